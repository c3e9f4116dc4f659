import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { archiveOf, extract } from '../../../../src/cli/copy/copy.ts';
import { memberPath, memberPrefix, planCopy, splitRemote } from '../../../../src/cli/copy/cp-plan.ts';
import { archiveEnd, memberHeader, padding } from '../../../../src/formats/tar-archive.ts';
import { readTar } from '../../../../src/formats/tar-reader.ts';

test('one of source and destination is in a pod', () => {
  assert.deepEqual(planCopy(['/a', 'web:/b']), {
    direction: 'to pod',
    local: '/a',
    remote: { pod: 'web', path: '/b' },
  });
  assert.deepEqual(planCopy(['ns/web:b:c', '.']), {
    direction: 'from pod',
    remote: { namespace: 'ns', pod: 'web', path: 'b:c' },
    local: '.',
  });
  for (const [words, message] of [
    [['a'], /source and destination are required/],
    [['a', 'b'], /one of src or dest must be a remote/],
    [['a:b', 'c:d'], /one of src or dest must be a local/],
    [['web:', 'b'], /filepath cannot be empty/],
    [['a/b/c:/x', 'b'], /filespec must match the canonical format/],
    [[':/x', 'b'], /filespec must match the canonical format/],
  ] as const) {
    assert.throws(() => planCopy(words), { name: 'UsageError', message });
  }
});

test('members have paths below the requested path', () => {
  assert.equal(memberPrefix('/var//log/../lib/./x/'), 'var/lib/x');
  assert.equal(memberPrefix('../../x'), 'x');
  assert.equal(memberPrefix('/'), '');
  assert.deepEqual(memberPath('var/lib/x/a/b', 'var/lib/x'), ['a', 'b']);
  assert.deepEqual(memberPath('./a/', ''), ['a']);
  assert.deepEqual(memberPath('x', 'x'), []);
  for (const name of ['other', 'xy', 'x/../../etc/passwd', '../x/a', 'x/a/..']) {
    assert.equal(memberPath(name, 'x'), undefined, name);
  }
  assert.deepEqual(splitRemote('/a/b/'), { directory: '/a', name: 'b' });
  assert.deepEqual(splitRemote('/b'), { directory: '/', name: 'b' });
  assert.deepEqual(splitRemote('b'), { directory: '.', name: 'b' });
});

/** Creates a directory with files that are hard to pack. */
function hardDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-cp-'));
  const from = join(directory, 'from');
  mkdirSync(join(from, 'empty'), { recursive: true });
  writeFileSync(join(from, 'none'), '');
  writeFileSync(join(from, 'block'), Buffer.alloc(512, 'b'), { mode: 0o750 });
  writeFileSync(join(from, 'ümläut'), Buffer.alloc(100_001, 'u'));
  const deep = join(from, ...Array.from({ length: 12 }, () => 'a-long-name-of-a-directory'));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, 'x'.repeat(200)), 'deep');
  symlinkSync('block', join(from, 'link'));
  return directory;
}

const contents = (directory: string) =>
  execFileSync('find', ['.', '!', '-type', 'l', '-printf', '%P %y %s %m\n'], { cwd: directory })
    .toString()
    .split('\n')
    .sort();

async function* inPieces(bytes: Buffer, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const nothingToSay = (text: string) => assert.fail(text);

test('tar extracts an archive that was created here', async (context) => {
  const directory = hardDirectory();
  context.after(() => rmSync(directory, { recursive: true }));
  const archive = await buffer(archiveOf(join(directory, 'from'), 'renamed', nothingToSay));
  execFileSync('tar', ['-xf', '-', '-C', directory], { input: archive });
  assert.deepEqual(contents(join(directory, 'renamed')), contents(join(directory, 'from')));
  assert.equal(readFileSync(join(directory, 'renamed/link'), 'utf8'), 'b'.repeat(512));
});

for (const format of ['gnu', 'pax', 'ustar']) {
  test(`an archive of tar can be read: ${format}`, async (context) => {
    const directory = hardDirectory();
    context.after(() => rmSync(directory, { recursive: true }));
    const from = join(directory, 'from');
    // The old format has no room for such a name.
    const exclude = format === 'ustar' ? ['--exclude=xxxx*'] : [];
    if (format === 'ustar') rmSync(join(from, 'a-long-name-of-a-directory'), { recursive: true });
    execFileSync('ln', ['block', 'second'], { cwd: from });
    const args = ['cf', '-', `--format=${format}`, ...exclude, '-C', directory, 'from'];
    const archive = execFileSync('tar', args);
    for (const length of [1_000_000, 333]) {
      const warnings: string[] = [];
      const destination = join(directory, `to-${length}`);
      const err = (text: string) => void warnings.push(text);
      await extract(inPieces(archive, length), { prefix: 'from', destination, err });
      assert.deepEqual(contents(destination), contents(from));
      assert.deepEqual(readFileSync(join(destination, 'second')), readFileSync(join(from, 'block')));
      assert.deepEqual(warnings, [`warning: skipping symlink: "${destination}/link" -> "block"\n`]);
    }
    // A single file is copied into an existing directory.
    const one = execFileSync('tar', ['cf', '-', '-C', directory, 'from/block']);
    await extract(inPieces(one, 100), { prefix: 'from/block', destination: directory, err: nothingToSay });
    assert.equal(readFileSync(join(directory, 'block'), 'utf8'), 'b'.repeat(512));
  });
}

const file = { type: 'file', mode: 0o644, uid: 0, gid: 0, modified: 0 } as const;

test('extraction writes nothing outside the destination', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'ctl-cp-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const parts = ['x/../../evil', '/evil', 'evil', 'x/good'].flatMap((name) => [
    memberHeader({ ...file, name, size: 4 }),
    Buffer.from('data'),
    padding(4),
  ]);
  const warnings: string[] = [];
  const err = (text: string) => void warnings.push(text);
  const archive = Buffer.concat([...parts, archiveEnd]);
  await extract(inPieces(archive, 100), { prefix: 'x', destination: join(directory, 'to'), err });
  assert.deepEqual(
    contents(directory).filter((line) => / f /.test(line)),
    ['to/good f 4 644'],
  );
  assert.equal(warnings.length, 3);
  assert.match(warnings[0] ?? '', /"x\/\.\.\/\.\.\/evil" is outside target destination, skipping/);
});

test('sizes beyond eight gigabytes are read in the binary form of GNU tar', async () => {
  const size = 9 * 1024 ** 3;
  const header = Buffer.from(memberHeader({ ...file, name: 'big', size }));
  for await (const member of readTar(inPieces(header, 512))) {
    assert.deepEqual([member.name, member.size, member.mode], ['big', size, 0o644]);
    break;
  }
});

test('a damaged or truncated archive is rejected', async () => {
  const archive = Buffer.concat([
    memberHeader({ ...file, name: 'a', size: 4 }),
    Buffer.from('data'),
    padding(4),
  ]);
  const read = async (bytes: Buffer) => {
    for await (const { content } of readTar(inPieces(bytes, 100))) for await (const _ of content);
  };
  await read(archive);
  await assert.rejects(read(archive.subarray(0, 514)), /ends too early/);
  await assert.rejects(read(archive.subarray(0, 300)), /ends too early/);
  archive[0] = 0x62;
  await assert.rejects(read(archive), /a check sum is wrong/);
});
