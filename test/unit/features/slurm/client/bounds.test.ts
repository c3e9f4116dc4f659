/** Bounds, words and names of the client of SlurmJobs. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { slurmPhases } from '../../../../../src/features/slurm/api/slurm-job.ts';
import {
  batchScript,
  buildScript,
  jobProgram,
  sbatchOptions,
} from '../../../../../src/features/slurm/client/batch-script.ts';
import { chooseResults } from '../../../../../src/features/slurm/client/choose-results.ts';
import { connectionSettings } from '../../../../../src/features/slurm/client/connection-settings.ts';
import { listedFiles } from '../../../../../src/features/slurm/client/host-answers.ts';
import { folderOf } from '../../../../../src/features/slurm/client/host-scripts.ts';
import type { Step } from '../../../../../src/features/slurm/client/job-plan.ts';
import { fingerprint, hostKeys, signatures } from '../../../../../src/features/slurm/client/known-hosts.ts';
import { directiveFaults } from '../../../../../src/features/slurm/client/sbatch-options.ts';
import type { SlurmJob, SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { isFinished, slurmJobConditions } from '../../../../../src/features/slurm/client/slurm-job.ts';
import { ConnectionError } from '../../../../../src/features/slurm/client/ssh.ts';
import { NotNow, NotWritten, problemOf } from '../../../../../src/features/slurm/client/step-problem.ts';

const jobOf = (spec: SlurmJobSpec): SlurmJob => ({
  ...{ namespace: 'default', name: 'add', uid: 'u-1', spec, status: undefined, deleting: false },
});

it('a job is finished only in the last three of its phases', () => {
  const over = slurmPhases.filter((phase) => isFinished({ phase }));
  assert.deepEqual(over, ['Succeeded', 'Failed', 'Canceled']);
  assert.equal(slurmPhases.length, 9);
  assert.equal(isFinished(undefined), false);
  assert.deepEqual(slurmJobConditions, [
    ...['Connected', 'Uploaded', 'Built', 'Submitted', 'ResultsFetched', 'Complete', 'Failed'],
  ]);
});

describe('results', () => {
  const files = (count: number, length = 4) =>
    Array.from({ length: count }, (_, index) => ({ path: `${index}`.padStart(length, '0'), size: 1 }));
  it('are at most 500 files, and further files are listed with the reason', () => {
    assert.equal(chooseResults(files(500), ['*'], 1000).fetched.length, 500);
    const { fetched, dropped } = chooseResults(files(501), ['*'], 1000);
    assert.equal(fetched.length, 500);
    assert.deepEqual(dropped, [{ path: '0500', size: 1, reason: 'more than 500 files' }]);
    assert.equal(chooseResults(files(1200), ['*'], 2000).dropped.length, 500);
  });
  it('have paths of at most 128 KiB in total, and further files are listed with the reason', () => {
    const { fetched, dropped } = chooseResults(files(33, 4096), ['*'], 1000);
    assert.equal(fetched.length, 32);
    assert.equal(dropped[0]?.reason, 'all paths together have more than 131072 bytes');
  });
  it('are the smallest, and by name among equal sizes, by globs with or without ./', () => {
    const of = (globs: readonly string[], limit = 100) =>
      chooseResults(
        ['b', 'a', 'd/c'].map((path) => ({ path, size: 50 })),
        globs,
        limit,
      );
    assert.deepEqual(
      of(['./*', 'd/*']).fetched.map(({ path }) => path),
      ['a', 'b'],
    );
    assert.equal(
      of(['*', 'd/*']).dropped[0]?.reason,
      'all results together may have at most 100 bytes (resultsLimit)',
    );
    assert.deepEqual(
      of(['./d/*'], 50).fetched.map(({ path }) => path),
      ['d/c'],
    );
  });
  it('are listed by lines with a size and a path; others are left out', () => {
    assert.deepEqual(listedFiles('no tab\x003\tx\x00x\ty\x00'), [{ path: 'x', size: 3 }]);
  });
});

it('an unusable Secret is reported with the key and the reason', () => {
  const data = { host: 'h', user: 'u', password: 'p', knownHosts: 'x' };
  for (const [change, why] of [
    [{ host: undefined }, 'the Secret has no key host'],
    [{ user: ' ' }, 'the Secret has no key user'],
    [
      { knownHosts: '\n' },
      'the Secret has no key knownHosts: without the key of the host nothing is sent to it',
    ],
    [{ host: 'a b' }, 'host in the Secret is neither a host name nor an IP address'],
    [{ host: 'h'.repeat(254) }, 'host in the Secret is neither a host name nor an IP address'],
    [{ port: '0' }, 'port in the Secret is not a number from 1 to 65535'],
    [{ port: '65536' }, 'port in the Secret is not a number from 1 to 65535'],
    [{ port: '022' }, 'port in the Secret is not a number from 1 to 65535'],
    [{ password: undefined }, 'the Secret has neither password nor privateKey'],
  ] as const)
    assert.equal(connectionSettings({ ...data, ...change } as Record<string, string>), why);
  for (const port of ['1', '65535']) {
    const read = connectionSettings({ ...data, host: '::1', port });
    assert.ok(typeof read !== 'string' && read.port === Number(port) && read.host === '::1');
  }
  const spaced = connectionSettings({
    ...data,
    password: ' p\t\r\n',
    privateKey: 'K',
    passphrase: ' w \n\n',
  });
  assert.ok(typeof spaced !== 'string');
  assert.deepEqual([spaced.password, spaced.passphrase], [' p\t', ' w \n'], 'only one line end is removed');
  const keyed = connectionSettings({ ...data, password: '', privateKey: 'K' });
  assert.ok(typeof keyed !== 'string' && keyed.password === undefined && keyed.privateKey === 'K');
});

describe('the keys of a host', () => {
  const key = Buffer.from('AAAA', 'base64');
  const has = (text: string, host = 'h1', port = 22) => hostKeys(text, host, port).has(key);
  it('are found in lines between comments and empty lines, also by a hash of the name', () => {
    const salt = Buffer.from('salt').toString('base64');
    const hash = createHmac('sha1', Buffer.from('salt')).update('h1').digest('base64');
    assert.ok(has(`# comment\r\n\r\n  |1|${salt}|${hash} ssh-rsa AAAA\r\n`));
    assert.ok(!has(`|1|${salt}|${hash} ssh-rsa AAAA`, 'h2'));
    assert.ok(!has(`|1|${salt} ssh-rsa AAAA`) && !has('#h1 ssh-rsa AAAA'));
    assert.ok(!has('#h2,h1 ssh-rsa AAAA'), 'a key that is commented out is not trusted');
  });
  it('are the keys whose pattern matches the whole name in any case, without excluded names', () => {
    assert.ok(
      has('H? ssh-rsa AAAA') && has('x,h* ssh-rsa AAAA') && !has('h ssh-rsa AAAA') && !has('? ssh-rsa AAAA'),
    );
    assert.ok(!has('h.x ssh-rsa AAAA', 'h-x') && !has('h*,!h1 ssh-rsa AAAA'));
    assert.ok(!has('h1') && !has('h1 ssh-rsa') && !has('h1 ssh-unknown AAAA'));
  });
  it('have the types that the client requests, without duplicates and revoked keys', () => {
    const { types } = hostKeys('h1 ssh-rsa AAAA\nh1 ssh-rsa BBBB\nh1 ecdsa-sha2-nistp256 CCCC\n', 'h1', 22);
    assert.deepEqual(types, ['ssh-rsa', 'ecdsa-sha2-nistp256']);
    assert.deepEqual(hostKeys('h1 ssh-rsa AAAA\n@revoked h1 ssh-rsa AAAA\n', 'h1', 22).types, []);
    assert.deepEqual(
      [signatures('ssh-rsa'), signatures('ssh-ed25519')],
      [['rsa-sha2-512', 'rsa-sha2-256'], ['ssh-ed25519']],
    );
    assert.equal(fingerprint(Buffer.from('key')), 'SHA256:LHDhK3oGRvkiefQnx7OOczTY5Tic/xZ6HcMOc/gmtoM');
  });
});

it('short options of a script are recognized by their letter, long ones by their name', () => {
  const faults = (line: string) => directiveFaults(`#!/bin/sh\n#SBATCH ${line}\n`).length;
  for (const line of ['-N 2', '-n4', '-D /x', '-o out -e err', '--output=x', '--nodes 2'])
    assert.equal(faults(line), 0, line);
  for (const line of ['-W', '-Z9', '--wait', 'word', '-', '--', '--Nodes=2', '-N2 --wrap=x'])
    assert.equal(faults(line), 1, line);
  assert.deepEqual(directiveFaults('#SBATCH  --wait   -W  # why\n'), [
    '#SBATCH --wait: not among the options that a job may set',
    '#SBATCH -W: not among the options that a job may set',
  ]);
  assert.deepEqual(directiveFaults('\n  \r\n# a comment\r\n#SBATCH --wait\r\n').length, 1);
});

it("the options of a job are in an order in which they do not override the client's options", () => {
  const spec: SlurmJobSpec = {
    ...{ partition: 'p', account: 'a', qos: 'q', nodes: 2, tasks: 3, tasksPerNode: 4, cpusPerTask: 5 },
    ...{ gpus: 1, memory: '1500Ki', time: 3661, array: '0-1', arguments: ['--exclusive'] },
  };
  assert.deepEqual(sbatchOptions(jobOf(spec)), [
    ...['--job-name=add', '--partition=p', '--account=a', '--qos=q', '--nodes=2', '--ntasks=3'],
    ...[
      '--ntasks-per-node=4',
      '--cpus-per-task=5',
      '--gres=gpu:1',
      '--mem=2M',
      '--time=61:01',
      '--array=0-1',
    ],
    ...['--exclusive', '--comment=minik8s:u-1', '--output=.minik8s/stdout-%a', '--error=.minik8s/stderr-%a'],
    ...['--input=/dev/null', '--open-mode=truncate', '--export=ALL'],
  ]);
  assert.ok(!sbatchOptions(jobOf({ gpus: 0 })).some((option) => option.startsWith('--gres')));
});

it('scripts load modules, set variables, and leave the exit status of the task', () => {
  const spec = { modules: ['gcc/12'], environment: { A_1: "it's" }, run: ['one', 'two'], build: ['make'] };
  assert.equal(
    batchScript(jobOf(spec), undefined),
    `#!/bin/bash -l
rm -f .minik8s/exited."\${SLURM_ARRAY_TASK_ID:--}".*
module load 'gcc/12' || exit 1
export A_1='it'\\''s'
.minik8s/script
status=$?
: >.minik8s/exited."\${SLURM_ARRAY_TASK_ID:--}".$status
exit $status
`,
  );
  assert.match(
    batchScript(jobOf({}), '#!/bin/sh\n#SBATCH -N 2\ntrue\n'),
    /^#!\/bin\/bash -l\n#SBATCH -N 2\nrm /,
  );
  assert.throws(() => batchScript(jobOf({}), '#SBATCH --wait\n#SBATCH -W\n'), {
    message:
      '#SBATCH --wait: not among the options that a job may set; #SBATCH -W: not among the options that a job may set',
  });
  assert.equal(jobProgram(spec, undefined), '#!/bin/bash\nset -e\none\ntwo\n');
  assert.equal(jobProgram({}, 'true\n'), '#!/bin/bash\ntrue\n');
  assert.equal(jobProgram({}, '#!/usr/bin/python3\n'), '#!/usr/bin/python3\n');
  assert.equal(buildScript({ build: ['make', 'make test'] }), 'set -e\nmake\nmake test\n');
  for (const name of ['1A', 'A-B', '', 'A B'])
    assert.throws(() => buildScript({ environment: { [name]: '' } }), /not the name of a shell variable/);
  assert.throws(
    () => buildScript({ modules: ['a\nb'] }),
    /modules: "a\\nb" is empty or holds a control character/,
  );
});

it('a failed step sets its condition, unless it was a lost connection or a failed write', () => {
  const told = (step: Step, error: unknown) => {
    const { type, status, reason, message } = problemOf(step, error) ?? {};
    return type && `${type} ${status} ${reason}: ${message}`;
  };
  const lost = new Error('lost');
  assert.deepEqual(
    (
      [
        'prepare',
        'upload',
        'build',
        'submit',
        'fetch',
        'follow',
        'cancel',
        'cleanUp',
        'discard',
        'none',
      ] as const
    ).map((step) => told(step, lost)),
    [
      ...['Uploaded', 'Uploaded', 'Built', 'Submitted'].map((type) => `${type} False TryingAgain: lost`),
      'ResultsFetched Unknown TryingAgain: lost',
      ...Array.from({ length: 5 }, () => undefined),
    ],
  );
  assert.equal(
    told('follow', new NotNow('ResultsFetched', 'Late', 'why')),
    'ResultsFetched Unknown Late: why',
  );
  for (const type of ['Failed', 'Connected'] as const)
    assert.equal(told('cancel', new NotNow(type, 'X', 'y')), undefined);
  for (const error of [new ConnectionError('HostAway', 'x'), new NotWritten('x')])
    assert.equal(told('submit', error), undefined);
});

it('the folder of a job is below the home folder or its workDir, and has its uid', () => {
  for (const [workDir, folder] of [
    [undefined, '.minik8s/default'],
    ['~', '.'],
    ['~/runs/', 'runs'],
    ['runs//', 'runs'],
    ['/scratch/me', '/scratch/me'],
    ['~other', '~other'],
  ] as const)
    assert.equal(folderOf(jobOf({ workDir })), `${folder}/add-u-1`);
});
