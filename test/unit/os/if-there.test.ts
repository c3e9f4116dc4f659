import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ifThere } from '../../../src/os/if-there.ts';

describe('a read of a file that may be absent', () => {
  let directory: string;
  let file: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-if-there-'));
    file = join(directory, 'file');
    await writeFile(file, 'text');
  });
  after(() => rm(directory, { recursive: true }));

  it('has the result of a file that exists', async () => {
    assert.equal(await ifThere(readFile(file, 'utf8')), 'text');
  });

  it('is undefined without the file, and if a directory of its path is a file', async () => {
    assert.equal(await ifThere(readFile(join(directory, 'none'), 'utf8')), undefined);
    assert.equal(await ifThere(readFile(join(file, 'inner'), 'utf8')), undefined);
  });

  it('rejects with every other error', async () => {
    await assert.rejects(ifThere(readFile(directory, 'utf8')), { code: 'EISDIR' });
  });
});
