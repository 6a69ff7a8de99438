"""A popover of the sidebar: how large the store is, what of it belongs to which model, and deleting it by model."""

import streamlit as st

from core.storage.holdings import delete_holding, holdings
from core.wording import amount, plain
from pages.parts.frame import resources

_KEY = "storage"


@st.fragment
def draw_storage() -> None:
    """The button, and what it opens; the folder is looked at only once it is open."""
    opened = st.popover("Storage", icon=":material/database:", type="tertiary", on_change="rerun", key=_KEY)
    if opened.open:
        with opened:
            draw_holdings()


def draw_holdings() -> None:
    """A table of models and what each holds, and a button that deletes the results of one."""
    found = {one.label: one for one in holdings(resources.store())}
    if gone := st.session_state.pop(f"{_KEY} gone", None):
        st.success(plain(gone))
    st.metric("Stored results", f"{sum(one.size for one in found.values()) / 1e6:,.1f} MB")
    if not found:
        return
    columns = {"model": st.column_config.TextColumn("model"), "MB": st.column_config.NumberColumn("MB", format="%.1f")}
    rows = [{"model": name, "files": one.files, "MB": one.size / 1e6} for name, one in found.items()]
    st.dataframe(rows, hide_index=True, column_config=columns)
    name = st.selectbox("Results of", list(found), key=f"{_KEY} model")
    st.button("Delete these results", on_click=_delete, args=(name, found[name].model), icon=":material/delete:")


def _delete(name: str, model: str) -> None:
    count = delete_holding(resources.store(), model)
    st.session_state[f"{_KEY} gone"] = f"{amount(count, 'file')} of {name} deleted."
