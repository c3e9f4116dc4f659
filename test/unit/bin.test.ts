/** Scripts of bin/ that take no arguments reject one with a message and their description, and do nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const bin = join(import.meta.dirname, '../../bin');
const scripts = [
  'quickstart',
  'setup',
  'test',
  'check-types',
  'make-images',
  'get-client-go',
  'get-helm',
  'get-kubectl',
  'get-operators',
  'get-prometheus',
  'get-python-clients',
  'get-s3-server',
  'make-prometheus',
] as const;

const taken = (script: string) =>
  script === 'setup' ? 'no argument but --tests, --vm or --release' : 'no arguments';

for (const script of scripts) {
  test(`bin/${script} --help does nothing`, (context) => {
    // A script that continued would find no program to run.
    const path = mkdtempSync(join(tmpdir(), 'minik8s-bin-'));
    context.after(() => rmSync(path, { recursive: true }));
    symlinkSync('/usr/bin/sed', join(path, 'sed'));
    const file = join(bin, script);
    const { status, stdout, stderr } = spawnSync('/bin/bash', [file, '--help'], {
      env: { PATH: path },
      encoding: 'utf8',
    });
    const comment = /^#!.*\n((?:# .*\n)+)/.exec(readFileSync(file, 'utf8'))?.[1]?.replaceAll(/^# /gm, '');
    assert.deepEqual([status, stdout, stderr], [2, '', `bin/${script} takes ${taken(script)}.\n${comment}`]);
  });
}

/** Returns the packages of a list in bin/setup, such as to_run. */
function packages(list: string): string[] {
  const words = new RegExp(`^${list}=\\(([^)]*)\\)$`, 'm').exec(
    readFileSync(join(bin, 'setup'), 'utf8'),
  )?.[1];
  return words?.split(/\s+/).filter((word) => word !== '') ?? [];
}

test('bin/setup installs daemons for the tests only if the tests are requested', () => {
  const [toRun, toTest] = [packages('to_run'), packages('to_test')];
  assert.ok(toRun.length > 0 && toTest.length > 0);
  for (const daemon of ['mariadb-server', 'slurmctld', 'openssh-server', 'docker-registry', 'nginx-light']) {
    assert.ok(toTest.includes(daemon) && !toRun.includes(daemon), daemon);
  }
  assert.match(readFileSync(join(bin, 'test'), 'utf8'), /^stage setup bin\/setup --tests$/m);
});
