/** Steps that end a job for each answer of the host: canceled, fetched, cleaned up, deleted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withCondition } from '../../../../../src/features/slurm/client/job-plan.ts';
import type {
  SlurmJobCondition,
  SlurmJobStatus,
} from '../../../../../src/features/slurm/client/slurm-job.ts';
import type { Ran } from '../../../../../src/features/slurm/client/ssh.ts';
import { condition, failed, said, stepWorld as world } from '../../../../fixtures/slurm/steps-world.ts';

describe('a cancellation', () => {
  const spec = { run: ['true'], cancel: true };
  it('ends a job without a number at once, and leaves one with a number to Slurm', async () => {
    const none = world({}, failed(1), { spec });
    assert.equal(await none.take('cancel'), true);
    assert.deepEqual([none.scripts, none.is('Failed')], [[], 'Unknown Canceled: it was canceled']);
    assert.equal(none.entry.status.phase, 'Fetching');
    const early = world({ workDir: '/w', phase: 'Building' }, said('ended\n'), { spec });
    await early.take('cancel');
    assert.deepEqual([early.scripts.length, early.entry.status.phase], [1, 'Fetching']);
    const running = world({ workDir: '/w', jobID: '7', phase: 'Running' }, said('ended\n'), { spec });
    assert.equal(await running.take('cancel'), true);
    assert.deepEqual(
      [running.entry.status.phase, running.is('Failed')],
      ['Running', 'Unknown Canceled: it was canceled'],
    );
    assert.deepEqual(running.lanes, ['ask']);
    const late = world(
      { workDir: '/w', jobID: '7', phase: 'Running', acceptedTime: '2025-12-31T00:00:00Z' },
      said('ended'),
      {
        spec: { run: ['true'], activeDeadlineSeconds: 60 },
      },
    );
    await late.take('cancel');
    assert.equal(
      late.is('Failed'),
      'Unknown DeadlineExceeded: it had not ended after 60 s (activeDeadlineSeconds)',
    );
  });
  it('is repeated while Slurm has not finished it, and the status stays unchanged', async () => {
    const { problem, entry, is } = world({ workDir: '/w', jobID: '7', phase: 'Running' }, said('still\n'), {
      spec,
    });
    assert.equal(await problem('cancel'), 'Canceling');
    assert.deepEqual([entry.status.phase, is('Failed')], ['Running', 'none']);
    const away = world({ workDir: '/w', jobID: '7', phase: 'Running' }, failed(75, 'away'), { spec });
    assert.equal(await away.problem('cancel'), 'TryingAgain');
  });
});

describe('the end', () => {
  const over = (conditions: readonly SlurmJobCondition[], more: Partial<SlurmJobStatus> = {}) => ({
    ...({ phase: 'Fetching', workDir: '/w', jobID: '7', conditions, ...more } as const),
  });
  const looks = (script: string, list: Ran) =>
    script.includes('find .') ? list : said('0|/w/.minik8s/exited.0.3\n0|/w/.minik8s/exited.1.2\n');
  it('has the highest exit status of the tasks of an array, which the folder shows', async () => {
    const spec = { run: ['true'], array: '0-1' };
    const { take, entry, is } = world(
      over([condition('Failed', 'Unknown')]),
      (script) => looks(script, said('')),
      { spec },
    );
    assert.equal(await take('fetch'), true);
    assert.equal(entry.status.exitCode, 3);
    assert.deepEqual(
      [is('ResultsFetched'), entry.status.files, entry.status.droppedFiles],
      [...['True Fetched: 0 result files', []], undefined],
    );
  });
  it('reports results that were left behind, a missing folder, and a failed listing', async () => {
    const spec = { run: ['true'], results: ['*'], resultsLimit: '10' };
    const listed = said('4\ta\x0020\tb\x00');
    const large = world(over([condition('Complete', 'Unknown')]), (script) => looks(script, listed), {
      spec,
    });
    await large.take('fetch');
    assert.equal(large.is('ResultsFetched'), 'False ResultsTooLarge: 1 files were left in /w on the host');
    assert.deepEqual(
      large.entry.status.droppedFiles?.map(({ path, size }) => [path, size]),
      [['b', 20]],
    );
    // The file became shorter after it was listed: the host sent nothing of it.
    assert.deepEqual(large.entry.status.files, [{ path: 'a', size: 0 }]);
    const gone = world(over([condition('Complete', 'Unknown')]), (script) => looks(script, failed(74)), {
      spec,
    });
    await gone.take('fetch');
    assert.equal(
      gone.is('ResultsFetched'),
      'False WorkFolderGone: the work folder is not on the host any more',
    );
    const broken = world(
      over([condition('Complete', 'Unknown')]),
      (script) => looks(script, failed(1, 'I/O error\n')),
      { spec },
    );
    await assert.rejects(broken.take('fetch'), /^Error: cannot list \/w: I\/O error$/);
    assert.deepEqual([broken.is('ResultsFetched'), broken.entry.status.phase], ['none', 'Fetching']);
    const never = world(over([condition('Failed', 'Unknown')], { workDir: undefined }), failed(1), { spec });
    await never.take('fetch');
    assert.deepEqual([never.scripts, never.is('ResultsFetched')], [[], 'True Fetched: 0 result files']);
  });
  it('removes the folder, unless it is to be kept, holds dropped output, or was never created', async () => {
    const conditions = [condition('Complete', 'Unknown'), condition('ResultsFetched', 'True')];
    const dropped = [{ path: 'x', size: 1, reason: 'too large' }];
    for (const [status, spec, scripts] of [
      [{}, {}, 1],
      [{}, { keepFiles: true }, 0],
      [{}, { keepFiles: false }, 1],
      [{ droppedFiles: dropped }, {}, 0],
      [{ workDir: undefined }, {}, 0],
    ] as const) {
      const one = world(over(conditions, status), said(''), { spec: { run: ['true'], ...spec } });
      assert.equal(await one.take('cleanUp'), false);
      assert.equal(one.scripts.length, scripts, JSON.stringify([status, spec]));
      assert.deepEqual([one.entry.status.phase, one.is('Complete')], ['Succeeded', 'True X: as before']);
      assert.equal(one.is('ResultsFetched'), 'True X: as before');
    }
    const held = world(over(conditions), failed(1, 'Device or resource busy\n'));
    assert.equal(await held.take('cleanUp'), false);
    const why = '/w could not be removed from the host: Device or resource busy';
    assert.deepEqual(
      [held.entry.status.phase, held.is('ResultsFetched')],
      ['Succeeded', `True X: as before; ${why}`],
    );
    const unsaid = world(over(conditions.slice(0, 1)), failed(1, 'busy'));
    await unsaid.take('cleanUp');
    assert.deepEqual([unsaid.entry.status.phase, unsaid.is('ResultsFetched')], ['Succeeded', 'none']);
  });
  it('keeps the status of its connection that was written while its folder was removed', async () => {
    const conditions = [condition('Complete', 'Unknown'), condition('ResultsFetched', 'True')];
    for (const answer of [said(''), failed(1, 'busy')]) {
      const one = world(over([...conditions, condition('Connected', 'False')]), () => {
        const { status } = one.entry;
        one.entry.status = withCondition(status, { ...condition('Connected', 'True'), reason: 'Y' }, 0);
        return answer;
      });
      await one.take('cleanUp');
      assert.deepEqual([one.entry.status.phase, one.is('Connected')], ['Succeeded', 'True Y: as before']);
    }
  });
});

describe('a job that is being deleted', () => {
  const deleting = true;
  it('is released after Slurm has ended it and its folder is removed; at once if no step has begun', async () => {
    for (const [status, spec, scripts] of [
      [{ phase: 'Running', workDir: '/w', jobID: '7' }, {}, ['scancel', 'rm -rf']],
      [{ phase: 'Building', workDir: '/w' }, {}, ['scancel', 'rm -rf']],
      [{ phase: 'Running', workDir: '/w', jobID: '7' }, { keepFiles: true }, ['scancel']],
      [{ phase: 'Waiting' }, {}, []],
      [{ phase: 'Failed', workDir: '/w', jobID: '7' }, {}, []],
    ] as const) {
      const one = world(status, said('ended\n'), { spec: { run: ['true'], ...spec }, deleting });
      assert.equal(await one.take('discard'), false);
      const names = one.scripts.map((script) => ['scancel', 'rm -rf'].find((name) => script.includes(name)));
      assert.deepEqual([names, one.store.has(one.uid)], [scripts, false], JSON.stringify([status, spec]));
    }
  });
  it('is kept while Slurm has not ended it or does not answer', async () => {
    for (const answer of [said('still\n'), said(''), failed(75, 'away'), failed(1)]) {
      const one = world({ phase: 'Running', workDir: '/w', jobID: '7' }, answer, { deleting });
      await one.problem('discard');
      assert.ok(one.store.has(one.uid));
      assert.ok(!one.scripts.some((script) => script.includes('rm -rf')));
    }
  });
});
