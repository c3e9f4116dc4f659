/** Pages of the documentation site, from Markdown and from source files. Pure. */
import { posix } from 'node:path';
import { Marked, type Token } from 'marked';
import { anchorOf } from './heading-anchor.ts';

/** Part of a page under one heading: the unit that a search finds. */
export interface Section {
  readonly anchor: string;
  readonly title: string;
  readonly text: string;
}

export interface Page {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  /** Targets of the links and pictures, from the root of the repository; with `#anchor`. */
  readonly links: readonly string[];
}

/**
 * Returns the path of the page for a file or folder of the repository, from the site's root: `docs/tour.html`
 * for `docs/tour.md`, `docs/index.html` for `docs/README.md` and for the folder, `src/main.ts.html` for a
 * source file. Pictures keep their path.
 */
export function pagePath(path: string, isFolder: boolean): string {
  if (isFolder) return posix.join(path, 'index.html');
  if (path.endsWith('.svg')) return path;
  return path.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$|$/, '.html');
}

/** Returns a link from one page of the site to another, both from the site's root. */
export const relativeLink = (from: string, to: string) => posix.relative(posix.dirname(from), to);

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/**
 * Returns the page of a Markdown file. `path` is that of the file from the repository's root; `isFolder`
 * returns true for targets of links that are folders.
 */
export function markdownPage(path: string, text: string, isFolder: (path: string) => boolean): Page {
  const links: string[] = [];
  const sections: { anchor: string; title: string; text: string }[] = [];
  const own = pagePath(path, false);
  const resolve = (href: string): string => {
    if (/^[a-z]+:/.test(href)) return href;
    const [to = '', anchor] = href.split('#');
    const target = to === '' ? path : posix.join(posix.dirname(path), decodeURIComponent(to));
    const withAnchor = anchor === undefined ? '' : `#${anchor}`;
    links.push(target + withAnchor);
    return relativeLink(own, pagePath(target, isFolder(target))) + withAnchor;
  };
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = resolve(token.href);
      const section = sections.at(-1);
      if (token.type === 'heading')
        sections.push({ anchor: anchorOf(token.text), title: plain(token.text), text: '' });
      else if (section) section.text += searchedText(token);
    },
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const anchor = anchorOf(heading);
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { title: sections[0]?.title ?? path, html, sections, links };
}

/** Returns the text of a token for the search; empty for a token that has none of its own. */
function searchedText(token: Token): string {
  if (token.type !== 'text' && token.type !== 'code' && token.type !== 'codespan') return '';
  // A token with inner tokens repeats their text, so only the inner tokens are read.
  return 'tokens' in token && token.tokens ? '' : `${token.text} `;
}

const plain = (heading: string) => heading.replace(/`/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** Returns the page of a file that Markdown links to: its text with numbered lines. */
export function filePage(path: string, text: string): Page {
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => `<span id="L${index + 1}">${escaped(line)}</span>`);
  const html = `<h1>${escaped(path)}</h1>\n<pre class="file">${lines.join('\n')}</pre>\n`;
  return { title: path, html, sections: [], links: [] };
}

/** Returns the page of a folder without a README: the names in it. */
export function folderPage(path: string, names: readonly string[]): Page {
  const items = names.map((name) => `<li>${escaped(name)}</li>`).join('\n');
  return { title: path, html: `<h1>${escaped(path)}</h1>\n<ul>\n${items}\n</ul>\n`, sections: [], links: [] };
}
