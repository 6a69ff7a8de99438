// Everything is predicted and the sentence at the top says so.
() => {
  const said = document.querySelector('[data-testid=stMain]').textContent;
  return (
    !document.querySelector('[data-testid=stProgress]') &&
    !/ so far|not known yet/.test(said) &&
    /The model is (right on|least sure)/.test(said)
  );
};
