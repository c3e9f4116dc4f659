/** Folders of a node that may be watched, and the files that are found while others write. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  FolderProblem,
  type ListOptions,
  listFolder,
  openWatched,
  readContent,
} from '../../../../../src/features/triggers/agent/open-folder.ts';
import type { FolderWatch } from '../../../../../src/features/triggers/api/folder-watch.ts';

function begin(context: TestContext): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-open-folder-')));
  context.after(() => rmSync(base, { recursive: true }));
  return base;
}

describe('a watched folder', () => {
  const opened = async (folder: string, allowed: readonly string[], more: object = {}) => {
    try {
      await using found = await openWatched(
        { spec: { folder, path: '', ...more } } as unknown as FolderWatch,
        allowed,
      );
      return (await found.stat()).ino;
    } catch (error) {
      if (!(error instanceof FolderProblem)) throw error;
      return `${error.reason}: ${error.message}`;
    }
  };

  it('is inside or equal to a --watch-folder of the node, also through links', async (context) => {
    const base = begin(context);
    mkdirSync(join(base, 'in/deep'), { recursive: true });
    mkdirSync(join(base, 'inside'));
    mkdirSync(join(base, '..out'));
    symlinkSync(join(base, 'in'), join(base, 'link'));
    symlinkSync(join(base, 'inside'), join(base, 'in/leads-out'));
    const inode = (path: string) => statSync(join(base, path)).ino;
    const refused = (path: string) =>
      `FolderNotAllowed: no --watch-folder of the node allows ${join(base, path)}`;
    const at = (path: string, ...allowed: readonly string[]) =>
      opened(
        join(base, path),
        allowed.map((one) => join(base, one)),
      );
    assert.equal(await at('in', 'in'), inode('in'));
    assert.equal(await at('in/deep', 'none', 'in'), inode('in/deep'));
    assert.equal(await at('link/deep', 'in'), inode('in/deep'));
    assert.equal(await at('in/deep', 'link'), inode('in/deep'));
    assert.equal(await at('in', 'in/deep'), refused('in'));
    assert.equal(await at('inside', 'in'), refused('inside'));
    assert.equal(await at('in/leads-out', 'in'), refused('in/leads-out'));
    assert.equal(await at('..out', '.'), inode('..out'));
    assert.equal(await at('in'), refused('in'));
  });

  it('needs no --watch-folder if it belongs to a volume', async (context) => {
    const base = begin(context);
    assert.equal(await opened(base, [], { volumeName: 'v' }), statSync(base).ino);
    assert.equal(
      await opened(join(base, 'none'), [], { volumeName: 'v' }),
      `FolderMissing: there is no folder ${base}/none`,
    );
  });

  it('is reported as missing only if its node would allow it', async (context) => {
    const base = begin(context);
    writeFileSync(join(base, 'file'), '');
    symlinkSync(join(base, 'loop'), join(base, 'loop'));
    assert.equal(await opened(join(base, 'none'), [base]), `FolderMissing: there is no folder ${base}/none`);
    assert.equal(
      await opened(join(base, 'file/x'), [base]),
      `FolderMissing: there is no folder ${base}/file/x`,
    );
    assert.equal(
      await opened('/none/of/these', [base]),
      'FolderNotAllowed: no --watch-folder of the node allows /none/of/these',
    );
    assert.match(String(await opened(join(base, 'loop'), [base])), /^FolderUnusable: ELOOP/);
    assert.equal(
      await opened(base, [base], { path: 'none' }),
      `FolderMissing: there is no folder ${base}/none`,
    );
  });

  it('is opened by its path in the folder, in which no part is a link or a file', async (context) => {
    const base = begin(context);
    mkdirSync(join(base, 'in/deep'), { recursive: true });
    symlinkSync('/etc', join(base, 'in/link'));
    writeFileSync(join(base, 'in/file'), '');
    const at = (path: string) => opened(base, [base], { path });
    assert.equal(await at('in/deep'), statSync(join(base, 'in/deep')).ino);
    assert.match(String(await at('in/link')), /^FolderUnusable: .*in\/link: link is a symbolic link$/);
    assert.match(String(await at('in/file')), /^FolderUnusable: .*in\/file: .*is not a directory$/);
  });
});

describe('the files of a folder', () => {
  /** Returns the folders for which `onFolder` was called, and the paths of files. */
  async function listed(base: string, more: Partial<ListOptions> = {}) {
    await using folder = await open(base, 'r');
    const looked: string[] = [];
    const { files, unnamed } = await listFolder(folder, {
      isMeant: () => true,
      recursive: true,
      onFolder: async (path, inner) => {
        assert.equal((await inner.stat()).ino, statSync(join(base, path)).ino);
        looked.push(path);
      },
      ...more,
    });
    return { looked, files, unnamed, paths: [...files.keys()] };
  }

  it('are the matching ones, with size and times, and no links, pipes or folders', async (context) => {
    const base = begin(context);
    mkdirSync(join(base, 'b/c'), { recursive: true });
    mkdirSync(join(base, 'a'));
    for (const path of ['z.csv', 'x.txt', 'b/y.csv', 'b/c/w.csv']) writeFileSync(join(base, path), path);
    symlinkSync('z.csv', join(base, 'link.csv'));
    symlinkSync('b', join(base, 'd'));
    execFileSync('mkfifo', [join(base, 'pipe.csv')]);
    const { looked, files, paths } = await listed(base, { isMeant: (name) => name.endsWith('.csv') });
    assert.deepEqual(paths, ['z.csv', 'b/y.csv', 'b/c/w.csv']);
    assert.deepEqual(looked, ['', 'a', 'b', 'b/c']);
    const { mtimeNs, ctimeMs } = statSync(join(base, 'b/c/w.csv'), { bigint: true });
    assert.deepEqual(files.get('b/c/w.csv'), {
      ...{ size: 9, written: String(mtimeNs), changed: Number(ctimeMs) },
    });
    const flat = await listed(base, { recursive: false });
    assert.deepEqual([flat.looked, flat.paths.toSorted()], [[''], ['x.txt', 'z.csv']]);
  });

  it('with invalid UTF-8 in their names are counted if the pattern selects them', async (context) => {
    const base = begin(context);
    const odd = (ending: string) =>
      Buffer.concat([Buffer.from(`${base}/`), Buffer.from([0xff]), Buffer.from(ending)]);
    for (const ending of ['.csv', '.txt']) writeFileSync(odd(ending), '');
    writeFileSync(join(base, 'a.csv'), '');
    const { paths, unnamed } = await listed(base, { isMeant: (name) => name.endsWith('.csv') });
    assert.deepEqual([paths, unnamed], [['a.csv'], 1]);
  });

  it('are missing if they are removed during the listing, or if their folders become links or files', async (context) => {
    const base = begin(context);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      mkdirSync(join(base, name));
      writeFileSync(join(base, name, 'file'), '');
    }
    const { paths } = await listed(base, {
      onFolder: async (path) => {
        if (path !== 'a') return;
        rmSync(join(base, 'b'), { recursive: true });
        rmSync(join(base, 'c'), { recursive: true });
        symlinkSync('d', join(base, 'c'));
        rmSync(join(base, 'e'), { recursive: true });
        writeFileSync(join(base, 'e'), 'no folder any more');
      },
    });
    assert.deepEqual(paths, ['a/file', 'd/file']);
  });

  it('need more than one turn of reading', async (context) => {
    const base = begin(context);
    const names = Array.from({ length: 130 }, (_, index) => `f${index}`);
    for (const name of names) writeFileSync(join(base, name), '');
    assert.deepEqual((await listed(base)).paths.toSorted(), names.toSorted());
  });
});

describe('the content of a file', () => {
  const markOf = (path: string) => {
    const { size, mtimeNs } = statSync(path, { bigint: true });
    return { size: Number(size), written: String(mtimeNs) };
  };
  const read = async (base: string, path: string, mark = markOf(join(base, path))) => {
    await using folder = await open(base, 'r');
    return await readContent(folder, path, mark);
  };

  it('is read in folders below, up to 64 KiB', async (context) => {
    const base = begin(context);
    mkdirSync(join(base, 'in/deep'), { recursive: true });
    writeFileSync(join(base, 'in/deep/a'), 'text');
    writeFileSync(join(base, 'large'), Buffer.alloc(64 * 1024 + 1, 'x'));
    writeFileSync(join(base, 'largest'), Buffer.alloc(64 * 1024, 'x'));
    assert.deepEqual(await read(base, 'in/deep/a'), { content: 'text' });
    assert.deepEqual(await read(base, 'large'), { truncated: true });
    assert.deepEqual(await read(base, 'largest'), { content: 'x'.repeat(64 * 1024) });
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 20; i++) await read(base, 'in/deep/a');
    assert.ok(readdirSync('/proc/self/fd').length <= before + 2, 'nothing stays open');
  });

  it('is not read through links, from pipes or after a deletion', async (context) => {
    const base = begin(context);
    mkdirSync(join(base, 'in'));
    writeFileSync(join(base, 'in/a'), 'text');
    const mark = markOf(join(base, 'in/a'));
    symlinkSync('in', join(base, 'folder'));
    symlinkSync('in/a', join(base, 'file'));
    execFileSync('mkfifo', [join(base, 'pipe')]);
    for (const path of ['folder/a', 'file', 'none', 'none/a', 'in/a/b'])
      assert.equal(await read(base, path, mark), undefined, path);
    // A pipe without a writer would block its reader.
    assert.equal(await read(base, 'pipe'), undefined);
    assert.equal(await read(base, 'in'), undefined);
  });

  it('is not read if the size or time of the file has changed since the listing', async (context) => {
    const base = begin(context);
    const path = join(base, 'a');
    writeFileSync(path, 'text');
    const { size, written } = markOf(path);
    for (const mark of [
      { size: 2, written },
      { size: 5, written },
      { size, written: '1' },
    ])
      assert.equal(await read(base, 'a', mark), undefined, JSON.stringify(mark));
    assert.deepEqual(await read(base, 'a'), { content: 'text' });
  });

  it('is not read if the file is too large, and an error that is not a change of the folder is thrown', async (context) => {
    const base = begin(context);
    assert.deepEqual(await read(base, 'none', { size: 2 ** 50, written: '1' }), { truncated: true });
    for (const path of ['x'.repeat(300), `${'x'.repeat(300)}/a`])
      await assert.rejects(read(base, path, { size: 1, written: '1' }), { code: 'ENAMETOOLONG' });
  });
});
