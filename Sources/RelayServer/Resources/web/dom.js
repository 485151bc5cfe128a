/** The element with an identifier; the page is broken without it. */
export function byID(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element #${id}`);
  return element;
}

/**
 * Makes an element.
 *
 * Texts become text nodes, so what people call themselves is never read as markup.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name === 'className' ? 'class' : name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Makes an SVG element. */
export function makeSVG(tag, attributes = {}, ...children) {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** One of the page's icons; screen readers pass over it. */
export function icon(name) {
  return makeSVG('svg', { class: 'icon', 'aria-hidden': 'true' }, makeSVG('use', { href: `#icon-${name}` }));
}

/** Shows another icon in a button that has one. */
export function setIcon(button, name) {
  button.querySelector('use').setAttribute('href', `#icon-${name}`);
}
