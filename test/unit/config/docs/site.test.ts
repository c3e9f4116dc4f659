/** The documentation site that `npm run docs` builds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import MiniSearch from 'minisearch';
import { siteParts, thisRepository } from '../../../../config/docs/repository.ts';
import { type Repository, siteOf } from '../../../../config/docs/site.ts';

const parts = { 'style.css': '', 'search.js': '', 'minisearch.js': '' };
const repository = (texts: Record<string, string>): Repository => ({
  files: Object.keys(texts),
  read: (path) => texts[path] ?? assert.fail(`read ${path}`),
});
const small = (docs: string) =>
  siteOf(
    repository({
      'README.md': '# Home',
      'docs/README.md': `# Docs\n\n## Learn\n\n1. [Tour](tour.md): a walk\n`,
      'docs/tour.md': docs,
      'src/a.ts': 'const a = 1 < 2;\n',
    }),
    parts,
  );

describe('the site of this repository', () => {
  const { outputs, broken } = siteOf(thisRepository(), siteParts());

  it('has no broken link', () => {
    assert.deepEqual(broken, []);
  });

  it('has only relative links, each to a file of the site', () => {
    const dead = [...outputs].flatMap(([at, html]) =>
      at.endsWith('.html')
        ? [...html.matchAll(/<(?:a|link|script|img)[^>]* (?:href|src)="([^"#]+)/g)]
            .map(([, href = '']) => href)
            .filter((href) => !/^[a-z]+:/.test(href))
            .filter((href) => {
              const { pathname } = new URL(href, `http://site/${at}`);
              return href.startsWith('/') || !outputs.has(decodeURIComponent(pathname.slice(1)));
            })
            .map((href) => `${at}: ${href}`)
        : [],
    );
    assert.deepEqual(dead, []);
  });

  it('finds a page by words of its text or its title', () => {
    const script = outputs.get('search-index.js') ?? '';
    const { options, index } = JSON.parse(script.replace(/^const searchIndex = |;\n$/g, ''));
    const search = MiniSearch.loadJS(index, options);
    const found = (words: string) => search.search(words, { prefix: true }).map(({ href }) => href);
    assert.ok(found('one pod tour').includes('docs/tour.html#one-pod'));
    assert.ok(found('defragments').includes('docs/architecture/writes.html#etcd'));
  });
});

describe('siteOf', () => {
  it('reports a link to a file and to a heading that do not exist, with the page', () => {
    assert.deepEqual(small('# Tour\n\n[a](gone.md) [b](../README.md#away) [c](../README.md#home)').broken, [
      'docs/tour.md: docs/gone.md: there is no such file',
      'docs/tour.md: README.md#away: there is no such heading',
    ]);
  });

  it('shows a source file that a page links to, with its text escaped', () => {
    const { outputs } = small('# Tour\n\n[a](../src/a.ts)');
    assert.match(outputs.get('docs/tour.html') ?? '', /<a href="\.\.\/src\/a\.ts\.html">a<\/a>/);
    assert.match(outputs.get('src/a.ts.html') ?? '', /<span id="L1">const a = 1 &lt; 2;<\/span>/);
  });

  it('marks the page of the navigation that is shown', () => {
    const { outputs } = small('# Tour');
    assert.match(outputs.get('docs/tour.html') ?? '', /<a href="tour\.html" aria-current="page">Tour<\/a>/);
  });
});
