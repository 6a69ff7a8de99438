"""What is imported before anything is attacked: processes are forked from this one, which must have no thread but its
first, and none of them should import it again.
"""

import importlib
import os
import pkgutil

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_DISABLE_JIT"):
    os.environ[_name] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

_HEAVY = (
    *("pyarrow.parquet", "scipy.stats", "transformers", "transformers.models.auto.modeling_auto", "streamlit.web.cli"),
    *("transformers.models.bert.modeling_bert", "transformers.models.distilbert.modeling_distilbert", "plotly"),
)


def import_all() -> None:
    """Import the heaviest libraries, the core and the parts of the pages."""
    import core
    import pages.parts

    for room in (core, pages.parts):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in _HEAVY:
        importlib.import_module(name)
    import torch

    torch.set_num_threads(1)
