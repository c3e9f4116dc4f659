/** Steps of an installation on the files of a temporary folder, and the commands that they run. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { carryOut } from '../../../src/installation/carry-out.ts';
import {
  digestOfFile,
  digestOfText,
  packageManagerOf,
  readSysctls,
} from '../../../src/installation/machine-facts.ts';
import type { Step } from '../../../src/installation/plan/step.ts';
import { examine, runUpgrade } from '../../../src/installation/upgrade.ts';
import { type Exec, ExecError, type ExecOptions } from '../../../src/os/exec.ts';

const failure = (code?: number) =>
  new ExecError(
    { file: 'x', args: [], stdout: '', stderr: '', ...(code !== undefined && { code }) },
    'failed',
  );

/** Returns a port that runs nothing; `answer` returns the output of a command line, or throws. */
function execOf(answer: (line: string) => string = () => '') {
  const lines: string[] = [];
  const options: (ExecOptions | undefined)[] = [];
  const exec: Exec = async (file, args, option) => {
    const line = [file, ...args].join(' ');
    lines.push(line);
    options.push(option);
    return { stdout: answer(line), stderr: '' };
  };
  return { exec, lines, options };
}

describe('the steps of an installation', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'minik8s-steps-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const place = (name: string) => join(directory, name);
  const modeOf = (name: string) => statSync(place(name)).mode & 0o777;
  const does = (step: Step, exec: Exec = execOf().exec) => carryOut(exec, step, assert.fail);

  it('write files with exactly their mode, and replace what is there', async () => {
    writeFileSync(place('master.yaml'), 'old', { mode: 0o644 });
    for (const [name, mode] of [
      ['master.yaml', 0o600],
      ['unit', 0o644],
    ] as const) {
      await does({ kind: 'write-file', path: place(name), content: 'new\n', mode });
      assert.deepEqual([readFileSync(place(name), 'utf8'), modeOf(name)], ['new\n', mode]);
    }
    assert.deepEqual(readdirSync(directory).sort(), ['master.yaml', 'unit']);
  });

  it('copy the executable beside a running one: the old file is replaced, not written to', async () => {
    writeFileSync(place('from'), 'new', { mode: 0o600 });
    writeFileSync(place('minik8s'), 'old', { mode: 0o755 });
    const { ino } = statSync(place('minik8s'));
    await does({ kind: 'copy-file', from: place('from'), path: place('minik8s') });
    assert.deepEqual([readFileSync(place('minik8s'), 'utf8'), modeOf('minik8s')], ['new', 0o755]);
    assert.notEqual(statSync(place('minik8s')).ino, ino);
    await assert.rejects(does({ kind: 'copy-file', from: place('none'), path: place('minik8s') }), /ENOENT/);
    assert.deepEqual(readdirSync(directory).sort(), ['from', 'minik8s'], 'no draft is left');
  });

  it('make directories and links, which others may read', async () => {
    await does({ kind: 'make-directory', path: place('etc') });
    assert.equal(modeOf('etc'), 0o755);
    await does({ kind: 'make-link', path: place('kubectl'), target: '/usr/local/bin/minik8s' });
    assert.equal(readlinkSync(place('kubectl')), '/usr/local/bin/minik8s');
    await assert.rejects(does({ kind: 'make-link', path: place('etc'), target: '/x' }), /EEXIST/);
  });

  it('remove a path once or twice, and a directory only while it is empty', async () => {
    writeFileSync(place('unit'), '');
    mkdirSync(place('etc'));
    writeFileSync(place('etc/of-the-user'), '');
    for (let time = 0; time < 2; time++) {
      await does({ kind: 'remove-path', path: place('unit') });
      await does({ kind: 'remove-empty-directory', path: place('etc') });
    }
    assert.deepEqual([readdirSync(directory), readdirSync(place('etc'))], [['etc'], ['of-the-user']]);
    await assert.rejects(does({ kind: 'remove-path', path: place('etc') }), /EISDIR|directory/);
    await assert.rejects(does({ kind: 'remove-empty-directory', path: place('etc/of-the-user') }), /ENOTDIR/);
    rmSync(place('etc/of-the-user'));
    for (let time = 0; time < 2; time++) await does({ kind: 'remove-empty-directory', path: place('etc') });
    mkdirSync(place('log/old'), { recursive: true });
    await does({ kind: 'remove-directory', path: place('log') });
    assert.deepEqual(readdirSync(directory), []);
  });

  it('install packages without questions, after the list of apt, and not if that fails', async () => {
    const { exec, lines, options } = execOf();
    await does({ kind: 'install-packages', manager: 'apt', names: ['nftables', 'iproute2'] }, exec);
    assert.match(lines[0] ?? '', /^apt-get .*update$/);
    assert.match(lines[1] ?? '', /^apt-get .*install --yes --no-remove .*nftables iproute2$/);
    assert.deepEqual([lines.length, options[1]?.env?.DEBIAN_FRONTEND], [2, 'noninteractive']);
    const offline = execOf(() => {
      throw failure(100);
    });
    await assert.rejects(
      does({ kind: 'install-packages', manager: 'apt', names: ['nftables'] }, offline.exec),
      ExecError,
    );
    assert.equal(offline.lines.length, 1);
  });

  it('command the service manager of the step', async () => {
    const { exec, lines } = execOf();
    await does({ kind: 'start-docker', manager: 'systemd' }, exec);
    await does({ kind: 'start-docker', manager: 'openrc' }, exec);
    await does({ kind: 'enable-service', manager: 'systemd' }, exec);
    await does({ kind: 'enable-service', manager: 'openrc' }, exec);
    await does({ kind: 'restart-service', manager: 'systemd' }, exec);
    await does({ kind: 'load-modules', names: ['overlay', 'vxlan'] }, exec);
    assert.deepEqual(lines, [
      'systemctl enable --now docker.service',
      'rc-update --quiet add docker default',
      'rc-service docker start',
      'systemctl --quiet enable minik8s.service',
      'rc-update --quiet add minik8s default',
      'systemctl restart minik8s.service',
      'modprobe --all overlay vxlan',
    ]);
  });

  it('pass on what a reset has left, and nothing else that it prints', async () => {
    const warnings: string[] = [];
    const { exec } = execOf(() => 'removed 2 containers\nleft in /srv/a: notes.txt\nleft in /srv/b: x\n');
    const step: Step = {
      kind: 'reset',
      keepData: false,
      dataDir: '/a',
      dockerSocket: '/s',
      config: undefined,
    };
    await carryOut(exec, step, (warning) => warnings.push(warning));
    assert.deepEqual(warnings, ['left in /srv/a: notes.txt', 'left in /srv/b: x']);
  });

  it('compare files by their content', async () => {
    writeFileSync(place('a'), 'text');
    assert.equal(await digestOfFile(place('a')), digestOfText('text'));
    assert.equal(await digestOfFile(place('none')), undefined);
    await assert.rejects(digestOfFile(directory), /EISDIR/);
  });

  it('examine an executable by what it prints, without settings of another cluster', async (context) => {
    process.env.MINIK8S_TRY_OF_EXAMINE = 'x';
    context.after(() => delete process.env.MINIK8S_TRY_OF_EXAMINE);
    writeFileSync(place('minik8s'), 'program');
    const sha256 = digestOfText('program');
    const current = execOf((line) => (line.endsWith('--data-format') ? '3\n' : '1.2.0\n'));
    assert.deepEqual(await examine(current.exec, place('minik8s')), {
      version: '1.2.0',
      sha256,
      dataFormat: 3,
    });
    for (const option of current.options) {
      assert.ok(option?.env && !Object.hasOwn(option.env, 'MINIK8S_TRY_OF_EXAMINE'));
      assert.ok(option.timeoutMs !== undefined, 'a program that does not end is stopped');
    }
    const early = execOf((line) => {
      if (line.endsWith('--data-format')) throw failure(2);
      return '1.0.0\n';
    });
    assert.equal((await examine(early.exec, place('minik8s'))).dataFormat, 0);
    const other = execOf(() => 'GNU coreutils\n');
    await assert.rejects(examine(other.exec, place('minik8s')), /its command "version" prints no version/);
  });

  it('stop an upgrade whose backup fails before anything is replaced', async () => {
    const { exec, lines } = execOf(() => {
      throw new Error('no space left');
    });
    const executable = { version: '1.0.0', sha256: 'a', dataFormat: 1 };
    const said: string[] = [];
    const run = {
      exec,
      staged: place('none'),
      say: (line: string) => void said.push(line),
      installed: {
        role: 'up',
        dataDir: '/a',
        dockerSocket: '/s',
        created: [],
        before: {},
        sysctls: {},
        packages: [],
      },
      request: { current: executable, next: executable, allowsDowngrade: false, backsUp: true, timeoutMs: 1 },
    } as const;
    await assert.rejects(
      runUpgrade(run, [{ kind: 'back-up' }, { kind: 'keep-old' }, { kind: 'replace' }]),
      /no space left; 1\.0\.0 is installed and runs, as before$/,
    );
    assert.deepEqual(lines, ['/usr/local/bin/minik8s backup create']);
    assert.equal(said.length, 1);
  });
});

describe('the facts of a machine', () => {
  it('have the package manager whose program is there, apt before dnf', async () => {
    const having = (...programs: readonly string[]) =>
      execOf((line) => {
        if (programs.some((program) => line.startsWith(program))) return '';
        throw failure();
      }).exec;
    assert.equal(await packageManagerOf(having('apt-get', 'dnf')), 'apt');
    assert.equal(await packageManagerOf(having('dnf')), 'dnf');
    assert.equal(await packageManagerOf(having()), undefined);
  });

  it('have the parameters of the kernel without their line end, and none that it lacks', async () => {
    const found = await readSysctls(['kernel.ostype', 'no.such.parameter']);
    assert.deepEqual([...found], [['kernel.ostype', 'Linux']]);
  });
});
