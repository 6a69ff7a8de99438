"""Floor 2: explaining an example, training, jobs, figures and the command line."""
