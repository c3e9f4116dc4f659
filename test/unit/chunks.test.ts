/** The client in chunks, some of which are loaded when they are used (config/build/chunks.ts). */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ChunkLoader } from '../../config/build/chunk-loader.ts';
import { makeChunks } from '../../config/build/chunks.ts';

/** Modules note in a list that they were loaded. */
const noted = (name: string) => `(globalThis.loadedChunks ??= []).push('${name}');`;

const sources: Readonly<Record<string, string>> = {
  'first.ts': `${noted('first')}
    import { format, Shape } from './late.ts';
    import { shared } from './shared.ts';
    import { gzipSync } from 'node:zlib';
    import * as zlib from 'node:zlib';
    export const say = (word: string) => format(shared + word);
    export const isShape = (value: unknown) => value instanceof Shape;
    export const packed = () => gzipSync('').length;
    export const names = () => ['gzipSync' in zlib, Object.keys(zlib).includes('gunzipSync')];`,
  'second.ts': `${noted('second')}
    import { format } from './late.ts';
    export const shout = (word: string) => format(word).toUpperCase();`,
  'third.ts': `${noted('third')}
    import { shared } from './shared.ts';
    export const third = shared;`,
  'late.ts': `${noted('late')}
    import { below } from './below.ts';
    import { shared } from './shared.ts';
    export class Shape {}
    export const format = (word: string) => below + shared + word;`,
  'below.ts': `${noted('below')} export const below = '<';`,
  'shared.ts': `${noted('shared')} export const shared = '-';`,
};

describe('the client in chunks', () => {
  let folder = '';
  let paths: Readonly<Record<string, string>>;
  const texts = new Map<string, string>();
  const loaded = () => (globalThis as { loadedChunks?: string[] }).loadedChunks ?? [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minik8s-chunks-'));
    for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text);
    paths = await makeChunks({
      common: { absWorkingDir: folder, bundle: true, platform: 'node', target: 'node26' },
      outdir: join(folder, 'out'),
      entries: ['first.ts', 'second.ts', 'third.ts'],
      groups: [{ name: 'start', modules: ['first.ts'] }],
      late: ['late.ts'],
    });
    for (const [pack, path] of Object.entries(paths)) texts.set(pack, await readFile(path, 'utf8'));
  });
  after(() => rm(folder, { recursive: true }));

  const load = () => {
    Reflect.deleteProperty(globalThis, 'loadedChunks');
    const files = { source: (pack: string) => texts.get(pack) ?? '', cache: () => undefined };
    return new ChunkLoader(files, 'start');
  };

  test('contains late modules, and modules that only they import, in separate packs', () => {
    const packsWith = (name: string) =>
      [...texts].filter(([, text]) => text.includes(`push("${name}")`)).map(([pack]) => pack);
    assert.deepEqual(packsWith('first'), ['start']);
    assert.deepEqual(packsWith('shared'), ['start']);
    assert.notEqual(packsWith('late')[0], 'start');
    assert.deepEqual(packsWith('below'), packsWith('late'));
  });

  test('loads a late module when an export of it is first used, once', () => {
    const loader = load();
    const first = loader.load('first.ts') as { say(word: string): string; isShape(value: unknown): boolean };
    assert.deepEqual(loaded(), ['shared', 'first']);
    assert.equal(first.say('a'), '<--a');
    assert.equal(first.isShape({}), false);
    const second = loader.load('second.ts') as { shout(word: string): string };
    assert.equal(second.shout('b'), '<-B');
    assert.deepEqual(loaded(), ['shared', 'first', 'below', 'late', 'second']);
  });

  test('contains every export of a Node module that is loaded on first use', () => {
    const first = load().load('first.ts') as { packed(): number; names(): boolean[] };
    assert.equal(first.packed(), 20);
    assert.deepEqual(first.names(), [true, true]);
  });

  test('loads every chunk for the code caches', () => {
    load().loadAll();
    assert.deepEqual(loaded().toSorted(), ['below', 'first', 'late', 'second', 'shared', 'third']);
  });
});
