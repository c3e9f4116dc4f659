/**
 * The documentation site: a page for each Markdown file, and for each file to which a Markdown file links.
 * Pure.
 */
import MiniSearch from 'minisearch';
import {
  escaped,
  filePage,
  folderPage,
  markdownPage,
  type Page,
  pagePath,
  relativeLink,
} from './site-page.ts';

/** The files of the repository, by path from its root. */
export interface Repository {
  /** Paths of all files in git. */
  readonly files: readonly string[];
  read(path: string): string;
}

export interface Site {
  /** Contents by path from the site's root. */
  readonly outputs: ReadonlyMap<string, string>;
  /** One line for each link that leads nowhere; empty if there is none. */
  readonly broken: readonly string[];
}

/** Fields of the search index, which the browser reads too (search.js). */
const searchFields = { fields: ['title', 'text'], storeFields: ['title', 'page', 'href'] };

const assets = ['style.css', 'search.js', 'search-index.js', 'minisearch.js'] as const;

/** Returns the site. `parts` are the style, the search script, and the search library for browsers. */
export function siteOf(
  repository: Repository,
  parts: Readonly<Record<'style.css' | 'search.js' | 'minisearch.js', string>>,
): Site {
  const files = new Set(repository.files);
  const folders = foldersOf(repository.files);
  const isFolder = (path: string) => folders.has(path.replace(/\/$/, ''));
  const markdown = repository.files.filter((path) => path.endsWith('.md'));
  const pages = new Map<string, Page>();
  for (const path of markdown) pages.set(path, markdownPage(path, repository.read(path), isFolder));
  const outputs = new Map<string, string>();
  const navigation = navigationOf(repository.read('docs/README.md'), isFolder);
  const putPage = (at: string, page: Page | undefined) => {
    if (page) outputs.set(at, shell(at, page, navigation));
  };
  for (const [path, page] of pages) putPage(pagePath(path, false), page);
  for (const target of targetsOf(pages)) {
    const at = pagePath(target, isFolder(target));
    if (outputs.has(at)) continue;
    if (target.endsWith('.svg') && files.has(target)) outputs.set(at, repository.read(target));
    else putPage(at, linkedPage(target, repository, { files, isFolder }));
  }
  for (const [name, text] of Object.entries(parts)) outputs.set(name, text);
  outputs.set('search-index.js', `const searchIndex = ${JSON.stringify(searchIndex(pages))};\n`);
  return { outputs, broken: brokenLinks({ files, isFolder, pages }) };
}

/** Returns the page of a file or folder that is linked to; undefined if there is none. */
function linkedPage(target: string, repository: Repository, known: Omit<Known, 'pages'>): Page | undefined {
  if (known.files.has(target)) return filePage(target, repository.read(target));
  if (known.isFolder(target)) return folderPage(target, namesIn(target, repository.files));
  return undefined;
}

/** Returns the files and folders that the pages link to. */
const targetsOf = (pages: ReadonlyMap<string, Page>): ReadonlySet<string> =>
  new Set([...pages.values()].flatMap(({ links }) => links.map((link) => link.replace(/#.*/s, ''))));

/** Returns the options and the index of the search, by which minisearch finds sections. */
function searchIndex(pages: ReadonlyMap<string, Page>) {
  const search = new MiniSearch(searchFields);
  for (const [path, page] of pages)
    for (const { anchor, title, text } of page.sections) {
      const href = `${pagePath(path, false)}#${anchor}`;
      if (!search.has(href)) search.add({ id: href, title, text, page: page.title, href });
    }
  return { options: searchFields, index: search.toJSON() };
}

interface Known {
  readonly files: ReadonlySet<string>;
  readonly isFolder: (path: string) => boolean;
  readonly pages: ReadonlyMap<string, Page>;
}

const brokenLinks = (known: Known): string[] =>
  [...known.pages].flatMap(([path, { links }]) =>
    links.flatMap((link) => {
      const problem = problemOf(link, known);
      return problem === undefined ? [] : [`${path}: ${link}: ${problem}`];
    }),
  );

function problemOf(link: string, { files, isFolder, pages }: Known): string | undefined {
  const [target = '', anchor] = link.split('#');
  if (!files.has(target) && !isFolder(target)) return 'there is no such file';
  const page = pages.get(target);
  if (anchor === undefined || !page) return undefined;
  return page.sections.some((section) => section.anchor === anchor) ? undefined : 'there is no such heading';
}

function foldersOf(files: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files)
    for (let at = file.indexOf('/'); at >= 0; at = file.indexOf('/', at + 1)) folders.add(file.slice(0, at));
  return folders;
}

function namesIn(folder: string, files: readonly string[]): string[] {
  const within = `${folder.replace(/\/$/, '')}/`;
  const names = files
    .filter((file) => file.startsWith(within))
    .map((file) => file.slice(within.length).replace(/\/.*/, '/'));
  return [...new Set(names)];
}

interface Group {
  readonly title: string;
  readonly links: readonly { readonly title: string; readonly to: string }[];
}

/** Returns the groups of the navigation: the headings of docs/README.md, with the pages under each. */
function navigationOf(text: string, isFolder: (path: string) => boolean): Group[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...rest] = part.split('\n');
      const { html } = markdownPage('docs/README.md', rest.join('\n'), isFolder);
      const found = [...html.matchAll(/<a href="([^"#]+)(?:#[^"]*)?">([^<]+)<\/a>/g)];
      const links = new Map(
        found.map(([, href = '', name = '']) => [new URL(href, 'http://x/docs/').pathname.slice(1), name]),
      );
      return { title, links: [...links].map(([to, name]) => ({ title: name, to })) };
    });
}

function shell(at: string, { title, html }: Page, navigation: readonly Group[]): string {
  const to = (path: string) => relativeLink(at, path);
  const [style, ...scripts] = assets;
  const groups = navigation.map(({ title: group, links }) => {
    const items = links.map(({ title: name, to: path }) => {
      const here = path === at ? ' aria-current="page"' : '';
      return `<li><a href="${to(path)}"${here}>${name}</a></li>`;
    });
    return `<details${links.some((link) => link.to === at) ? ' open' : ''}><summary>${escaped(group)}</summary><ul>
${items.join('\n')}
</ul></details>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – minik8s</title>
<link rel="stylesheet" href="${to(style)}">
${scripts
  .toReversed()
  .map((name) => `<script defer src="${to(name)}"></script>`)
  .join('\n')}
</head>
<body data-root="${to('index.html').replace(/index\.html$/, '')}">
<nav>
<a class="home" href="${to('index.html')}">minik8s</a> <a href="${to('docs/index.html')}">Documentation</a>
<input type="search" placeholder="Search" aria-label="Search the documentation">
<ol class="found" hidden></ol>
${groups.join('\n')}
</nav>
<main>
${html}</main>
</body>
</html>
`;
}
