/** Commands to systemd and OpenRC about the service of minik8s, and their failures. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stopBeforeStart } from '../../../src/installation/held-stop.ts';
import { isProgram } from '../../../src/installation/machine-facts.ts';
import { whenUnlocked } from '../../../src/installation/openrc-control.ts';
import { systemdControl } from '../../../src/installation/systemd-control.ts';
import { type Exec, ExecError } from '../../../src/os/exec.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const failure = (code?: number) =>
  new ExecError(
    { file: 'x', args: [], stdout: '', stderr: '', ...(code !== undefined && { code }) },
    'failed',
  );

/** Returns a port that runs nothing: `answer` returns the output of a command line, or throws. */
const execOf =
  (answer: (line: string) => string): Exec =>
  async (file, args) => ({ stdout: answer([file, ...args].join(' ')), stderr: '' });

describe('the service in systemd', () => {
  it('counts as not enabled if systemctl fails with an exit status; another error is forwarded', async () => {
    const { isEnabled } = systemdControl;
    assert.equal(await isEnabled(execOf(() => '')), true);
    assert.equal(
      await isEnabled(
        execOf(() => {
          throw failure(1);
        }),
      ),
      false,
    );
    const broken = execOf(() => {
      throw new Error('no processes are left');
    });
    await assert.rejects(isEnabled(broken), /no processes are left/);
  });

  it('explains a failed restart by the last error of the service', async () => {
    const exec = execOf((line) => {
      if (line.startsWith('journalctl'))
        return 'starting\nerror: the first\nerror: the port is taken\nended\n';
      throw failure(1);
    });
    await assert.rejects(systemdControl.restart(exec), /did not start: the port is taken$/);
  });

  it('forwards the failure of a restart if the service has logged no error', async () => {
    const exec = execOf((line) => {
      if (line.startsWith('journalctl')) throw new Error('there is no journal');
      throw failure(1);
    });
    await assert.rejects(systemdControl.restart(exec), ExecError);
  });

  it('has the last error of its last start, unless it was stopped', async () => {
    const inState = (state: string, journal = 'error: the first\nerror: the port is taken\nended\n') =>
      execOf((line) => {
        if (line.includes('ActiveState')) return `${state}\n`;
        if (line.includes('InvocationID')) return '5f2a\n';
        assert.match(line, /^journalctl _SYSTEMD_INVOCATION_ID=5f2a /);
        return journal;
      });
    const { lastError } = systemdControl;
    assert.equal(await lastError(inState('failed')), 'the port is taken');
    assert.equal(await lastError(inState('activating')), 'the port is taken');
    assert.equal(await lastError(inState('failed', 'killed\n')), undefined);
    assert.equal(await lastError(inState('inactive')), undefined);
  });

  it('is removed although systemd does not list it as failed', async () => {
    const lines: string[] = [];
    const exec = execOf((line) => {
      lines.push(line);
      if (line.includes('reset-failed')) throw failure(1);
      return '';
    });
    await systemdControl.remove(exec);
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 4).join(' ')),
      ['systemctl --quiet disable --now', 'systemctl reset-failed minik8s.service'],
    );
  });

  it('has no main process if systemd names process 0', async () => {
    assert.equal(await systemdControl.mainProcess(execOf(() => '0\n')), undefined);
    assert.equal(await systemdControl.mainProcess(execOf(() => '12\n')), 12);
  });

  it('is stopped with settings that are removed afterwards, also if the stop fails', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'minik8s-held-stop-'));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'd', 'upgrade.conf');
    for (const fails of [false, true]) {
      const lines: string[] = [];
      const exec = execOf((line) => {
        lines.push(line);
        if (!line.includes(' stop ')) return '';
        assert.match(readFileSync(path, 'utf8'), /^\[Service\]\nKillSignal=\w+\n$/);
        if (fails) throw failure(1);
        return '';
      });
      const stopped = stopBeforeStart(exec, path, 'a.service');
      await (fails ? assert.rejects(stopped, ExecError) : stopped);
      assert.equal(existsSync(path), false);
      const reload = 'systemctl daemon-reload';
      assert.deepEqual(lines, [reload, 'systemctl stop a.service', reload]);
    }
  });
});

describe('the service in OpenRC', () => {
  const locked = new ExecError(
    { file: 'rc-service', args: [], stdout: '', stderr: ' * Call to flock failed: no', code: 1 },
    'exit status 1',
  );
  it('is stopped once a command that was started before has ended', async () => {
    const clock = new FakeClock();
    let attempts = 0;
    const stopped = whenUnlocked(clock, async () => {
      if (++attempts < 4) throw locked;
    });
    await clock.advance(300);
    await stopped;
    assert.equal(attempts, 4);
  });

  it('is reported as locked after two minutes, and any other failure at once', async () => {
    const clock = new FakeClock();
    const waiting = assert.rejects(
      whenUnlocked(clock, () => Promise.reject(locked)),
      (error) => error === locked,
    );
    await clock.advance(120_000);
    await waiting;
    const other = failure(1);
    await assert.rejects(
      whenUnlocked(clock, () => Promise.reject(other)),
      (error) => error === other,
    );
  });
});

it('a program counts as installed if it ends with any exit status, and as missing if it cannot be started', async () => {
  const ending = (code?: number) =>
    execOf(() => {
      throw failure(code);
    });
  assert.equal(
    await isProgram(
      execOf(() => '1.0'),
      'x',
    ),
    true,
  );
  assert.equal(await isProgram(ending(2), 'x'), true);
  assert.equal(await isProgram(ending(), 'x'), false);
});
