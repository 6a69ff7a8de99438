// Copies the address of the view. A text of one's own travels in it, where it is short enough, in place of its digest,
// so that the link shows it on another machine, too.

export default function (component) {
  const { parentElement } = component;
  const data = JSON.parse(component.data.json);
  const root = parentElement.querySelector('.copying');
  const [button, said, shown] = ['button', 'span', 'input'].map((kind) => root.querySelector(kind));
  button.title = data.about;
  const address = () => {
    const url = new URL(window.location.href);
    Object.entries(data.carried).forEach(([name, value]) => url.searchParams.set(name, value));
    return url.href;
  };
  const tell = (text, link) => {
    said.textContent = text;
    shown.hidden = !link;
    shown.value = link;
    if (link) shown.select();
  };
  button.onclick = async () => {
    const link = address();
    try {
      await navigator.clipboard.writeText(link);
      tell(`Copied. ${data.note}`, '');
    } catch {
      // A browser that lets nobody write to its clipboard shows the link instead.
      tell(`Copy it from here. ${data.note}`, link);
    }
  };
}
