/**
 * Styles that xterm.js writes into `style` elements and attributes. The content security policy forbids both,
 * so the rules go into constructed style sheets, and the attributes into style objects, which it allows.
 */

let isPrepared = false;

/** Changes how the document creates elements, once for all terminals. */
export function styleByObjects(): void {
  if (isPrepared) return;
  isPrepared = true;
  const create = document.createElement.bind(document);
  document.createElement = (tag: string, options?: ElementCreationOptions) => {
    if (tag === 'style') return sheetElement(create('span'));
    const element = create(tag, options);
    return tag === 'span' ? withStyleObject(element) : element;
  };
}

/** Returns the element; its attribute `style` is set through its style object. */
function withStyleObject(element: HTMLElement): HTMLElement {
  const setAttribute = element.setAttribute.bind(element);
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else setAttribute(name, value);
  };
  return element;
}

/** Returns the element, whose text is that of a style sheet until the element is removed. */
function sheetElement(element: HTMLElement): HTMLElement {
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, 'textContent', {
    get: () => '',
    set: (text: string) => sheet.replaceSync(text),
  });
  const remove = element.remove.bind(element);
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    remove();
  };
  return element;
}
