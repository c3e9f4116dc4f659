import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstMember } from '../../../../src/dashboard/app/files/plan/first-member.ts';
import { archiveEnd, memberHeader, type TarMember } from '../../../../src/formats/tar-archive.ts';

const member = (more: Partial<TarMember>): TarMember => ({
  ...{ name: 'var/log/app.log', type: 'file', mode: 0o644, uid: 0, gid: 0, size: 5, modified: 0 },
  ...more,
});

const archive = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

describe('the first member of an archive', () => {
  it('is a file with the position and the length of its content', () => {
    const header = memberHeader(member({}));
    assert.deepEqual(firstMember(archive(header, Buffer.from('hello'))), {
      ...{ type: 'file', offset: 512, size: 5, target: '' },
    });
  });

  it('has an odd name without an effect on what is found', () => {
    for (const name of ['-rf', 'a\nb', '<script>', 'ü 好 🚀', `${'long/'.repeat(60)}name`]) {
      const header = memberHeader(member({ name }));
      const found = firstMember(archive(header, Buffer.from('hello')));
      assert.deepEqual([found?.type, found?.offset, found?.size], ['file', header.length, 5], name);
    }
  });

  it('is a directory', () => {
    const found = firstMember(archive(memberHeader(member({ type: 'directory', size: 0 })), archiveEnd));
    assert.equal(found?.type, 'directory');
  });

  it('is a symlink with its target, also if this is long', () => {
    for (const target of ['/elsewhere', `/${'far/'.repeat(40)}away`]) {
      const found = firstMember(archive(memberHeader(member({ type: 'symlink', size: 0, target }))));
      assert.deepEqual([found?.type, found?.target], ['symlink', target]);
    }
  });

  it('of an archive by pax follows a record', () => {
    const record = memberHeader(member({ name: 'PaxHeaders/x', size: 20 }));
    record[156] = 'x'.charCodeAt(0);
    const found = firstMember(archive(record, new Uint8Array(512), memberHeader(member({}))));
    assert.deepEqual([found?.type, found?.offset], ['file', 1536]);
  });

  it('is of another type for a device', () => {
    const header = memberHeader(member({ size: 0 }));
    header[156] = '3'.charCodeAt(0);
    assert.equal(firstMember(header)?.type, 'other');
  });

  it('is absent in an empty archive, in other bytes, and in an archive that ends too early', () => {
    assert.equal(firstMember(archiveEnd), undefined);
    assert.equal(firstMember(new Uint8Array()), undefined);
    assert.equal(firstMember(new TextEncoder().encode('no archive'.repeat(100))), undefined);
    assert.equal(firstMember(memberHeader(member({})).subarray(0, 200)), undefined);
    const damaged = memberHeader(member({}));
    damaged.set(new TextEncoder().encode('99'), 124);
    assert.equal(firstMember(damaged), undefined);
  });
});
