import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readSeccompProfile } from '../../../../src/kubelet/containers/seccomp-profiles.ts';

const root = mkdtempSync(join(tmpdir(), 'minik8s-seccomp-'));
after(() => rmSync(root, { recursive: true }));
const folder = join(root, 'seccomp');
mkdirSync(join(folder, 'team'), { recursive: true });
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

describe('a seccomp profile of the machine', () => {
  it('is read from the folder of profiles and from folders in it', async () => {
    write('audit.json', '{ "defaultAction": "SCMP_ACT_LOG" }');
    write('team/web.json', '{\n  "defaultAction": "SCMP_ACT_ALLOW",\n  "syscalls": []\n}');
    assert.equal(await readSeccompProfile(folder, 'audit.json'), '{"defaultAction":"SCMP_ACT_LOG"}');
    assert.equal(
      await readSeccompProfile(folder, './team//web.json'),
      '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[]}',
    );
  });

  it('is not read from outside of the folder', async () => {
    writeFileSync(join(root, 'outside.json'), '{"defaultAction":"SCMP_ACT_ALLOW"}');
    for (const file of ['../outside.json', 'team/../../outside.json', '/etc/hostname', '', '..'])
      await assert.rejects(readSeccompProfile(folder, file), /^Error: it has to be a path below/, file);
  });

  it('must be an existing file with a seccomp profile', async () => {
    write('list.json', '[]');
    write('empty.json', '{}');
    write('text.json', 'secret');
    write('large.json', ' '.repeat(1024 * 1024 + 1));
    const wrong: [file: string, message: RegExp][] = [
      ['gone.json', /^Error: there is no such file$/],
      ['team', /^Error: the file cannot be read$/],
      ['list.json', /^Error: the file is no seccomp profile/],
      ['empty.json', /^Error: the file is no seccomp profile/],
      ['text.json', /^Error: the file is no seccomp profile: (?!.*secret)/],
      ['large.json', /^Error: the file has more than 1048576 bytes$/],
    ];
    for (const [file, message] of wrong)
      await assert.rejects(readSeccompProfile(folder, file), message, file);
  });
});
