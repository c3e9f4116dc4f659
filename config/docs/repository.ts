/** The files of this repository and of the site's own parts, read from disk. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Repository } from './site.ts';

const root = join(import.meta.dirname, '../..');

/** Returns the files that git has or would add, read when they are asked for. */
export function thisRepository(): Repository {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));
  return { files, read: (path) => readFileSync(join(root, path), 'utf8') };
}

/** Returns the style and the scripts of the site. */
export function siteParts() {
  const own = (name: string) => readFileSync(join(import.meta.dirname, 'assets', name), 'utf8');
  const library = dirname(createRequire(import.meta.url).resolve('minisearch'));
  return {
    'style.css': own('style.css'),
    'search.js': own('search.js'),
    'minisearch.js': readFileSync(join(library, '../umd/index.js'), 'utf8').replace(/^\/\/# source.*$/m, ''),
  };
}
