/** Links of the docs: each leads to a file of the repository, and to a heading that the page has. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { anchorOf } from '../../config/docs/heading-anchor.ts';

const root = join(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)));

/** Removes blocks and spans of code, in which brackets are not links. */
const proseOf = (text: string) => text.replace(/^ *(`{3,})[\s\S]*?^ *\1/gm, '').replace(/`[^`\n]*`/g, 'code');

const anchorsOf = (page: string) =>
  readFileSync(page, 'utf8')
    .replace(/^ *(`{3,})[\s\S]*?^ *\1/gm, '')
    .split('\n')
    .flatMap((line) => {
      const heading = /^#{1,6} (.*)$/.exec(line)?.[1];
      return heading === undefined ? [] : [anchorOf(heading)];
    });

/**
 * Returns the problem of a link in a page; undefined for a link that leads to a file, a heading or a web
 * page.
 */
function problemOf(page: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, page) : join(root, dirname(page), decodeURIComponent(path));
  if (relative(root, file).startsWith('..')) return `${target} leads out of the repository`;
  if (!existsSync(file)) return `${target}: there is no such file`;
  if (anchor === undefined || extname(file) !== '.md') return undefined;
  return anchorsOf(file).includes(anchor) ? undefined : `${target}: the page has no such heading`;
}

describe('links of the docs', () => {
  for (const page of pages)
    it(`${page} leads to files and headings that exist`, () => {
      const prose = proseOf(readFileSync(join(root, page), 'utf8'));
      const targets = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map(
        ([, target = '']) => target,
      );
      assert.deepEqual(
        targets.map((target) => problemOf(page, target)).filter((problem) => problem !== undefined),
        [],
      );
    });
});

describe('pages of the architecture', () => {
  const internals = pages.filter((path) => /^docs\/architecture(\.md|\/)/.test(path));

  it('are at most 120 lines long', () => {
    const lengths = internals.map((path) => [
      path,
      readFileSync(join(root, path), 'utf8').split('\n').length,
    ]);
    assert.deepEqual(
      lengths.filter(([, lines]) => Number(lines) > 120),
      [],
    );
  });

  for (const page of internals.filter((path) => path.startsWith('docs/architecture/')))
    it(`${page} names source files that exist`, () => {
      const text = readFileSync(join(root, page), 'utf8');
      const home = /relative to `([^`]+)`/.exec(text)?.[1] ?? assert.fail('paths relative to which folder?');
      const named = [...text.matchAll(/`([\w.-]+\/[\w./-]+\.ts)`/g)].map(([, path = '']) => path);
      const isThere = (path: string) => [home, '.'].some((from) => existsSync(join(root, from, path)));
      assert.deepEqual(
        named.filter((path) => !isThere(path)),
        [],
      );
    });
});

describe('docs/security.md', () => {
  it('names tests that exist', () => {
    const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
    const named = page.match(/\b(?:unit|integration|conformance|e2e)\/[\w/-]+/g) ?? [];
    assert.ok(named.length > 50);
    const isThere = (name: string) =>
      existsSync(join(root, 'test', `${name}.test.ts`)) || existsSync(join(root, 'test', name));
    assert.deepEqual(
      [...new Set(named)].filter((name) => !isThere(name)),
      [],
    );
  });
});
