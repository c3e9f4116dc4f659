/** State of jobs from queries to a host, and the rate of the queries. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, describe, it } from 'node:test';
import { Follower } from '../../../../../src/features/slurm/client/follower.ts';
import { JobEntry } from '../../../../../src/features/slurm/client/job-entry.ts';
import { observedStatus, type Verdict } from '../../../../../src/features/slurm/client/job-plan.ts';
import type { SlurmJobSpec } from '../../../../../src/features/slurm/client/slurm-job.ts';
import type { Ran } from '../../../../../src/features/slurm/client/ssh.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';

const stops: AbortController[] = [];
after(() => {
  for (const stop of stops) stop.abort();
});

const says = (stdout: string): Ran => ({ code: 0, stdout, stderr: '' });
const fails = (code: number, stderr: string): Ran => ({ code, stdout: '', stderr });
const disabled = fails(1, 'Slurm accounting storage is disabled');
const at = '2026-01-01T00:00:00';

/** A host whose answers the test sets, and a client's follower of the job 7. */
class World {
  readonly clock = new FakeClock();
  readonly log = new RecordingLogger();
  readonly stop = new AbortController();
  queue = says('');
  account = says('');
  look = says('');
  /** Times of queries to accounting, in seconds. */
  readonly accounted: number[] = [];
  queued = 0;
  looks = 0;
  /** Called during a query of the queue. */
  onQueue = () => undefined as unknown;
  /** Called while the files are checked. */
  onLook = () => undefined as unknown;
  /** Number of calls of `onNews`. */
  news = 0;
  /** First verdict: with it a client ends the job. */
  verdict: Verdict | undefined;
  readonly entry: JobEntry;
  readonly follower: Follower;

  constructor(spec: SlurmJobSpec = { run: ['true'] }) {
    stops.push(this.stop);
    const status = {
      phase: 'Submitted',
      acceptedTime: `${at}Z`,
      jobID: '7',
      workDir: '/w',
      state: 'PENDING',
    } as const;
    const job = { namespace: 'default', name: 'job', uid: 'u', spec, status, deleting: false };
    this.entry = new JobEntry(job, this.clock.now(), new SeededRandom(1));
    this.follower = new Follower({
      host: { run: async (_, script) => this.#answer(script) },
      clock: this.clock,
      log: this.log,
      signal: this.stop.signal,
      entries: () => [this.entry],
      onNews: (entry) => {
        this.news++;
        const { tasks, looked, forgotten, answered } = entry;
        if (answered)
          this.verdict ??= observedStatus(entry.job, entry.status, { tasks, looked, forgotten }).verdict;
      },
    });
    void this.follower.run();
  }

  #answer(script: string): Ran {
    if (script.includes('squeue')) {
      this.queued++;
      this.onQueue();
      return this.queue;
    }
    if (!script.includes('sacct')) {
      this.looks++;
      this.onLook();
      return this.look;
    }
    this.accounted.push(this.clock.monotonic() / 1000);
    return this.account;
  }

  async seconds(count: number): Promise<string | undefined> {
    await this.clock.advance(count * 1000);
    return this.verdict?.reason;
  }
}

it('the queue and accounting are queried every 15 seconds exactly, and the queue 3 seconds after an event', async () => {
  for (const isWoken of [false, true]) {
    const world = new World();
    const times: number[] = [];
    world.onQueue = () => times.push(world.clock.monotonic() / 1000);
    // Each check of the files takes a second, so that one ends at 15 seconds.
    world.onLook = () => world.clock.spend(1000);
    await world.seconds(0);
    if (isWoken) world.follower.wake();
    await world.seconds(31);
    assert.deepEqual(times, isWoken ? [0, 3, 18] : [0, 15, 30]);
    assert.deepEqual(world.accounted, isWoken ? [0, 18] : [0, 15, 30]);
  }
});

describe('a job that Slurm does not list', () => {
  it('is lost after a minute if there is no accounting, and not before', async () => {
    const world = new World();
    world.account = disabled;
    assert.equal(await world.seconds(59), undefined);
    assert.equal(await world.seconds(60), 'JobLost');
    assert.equal(world.verdict?.type, 'Failed');
  });
  it('is lost exactly that time after the first query in which it was missing', async () => {
    for (const [account, lost] of [
      [disabled, 60],
      [says(''), 600],
    ] as const) {
      const world = new World();
      world.account = account;
      // Each check of the files takes a second, so that the queries are 15 seconds apart.
      world.onLook = () => world.clock.spend(1000);
      let seconds = 0;
      while ((await world.seconds(1)) === undefined) seconds = world.clock.monotonic() / 1000;
      assert.ok(seconds < lost + 2, `${lost}: ${seconds}`);
    }
  });
  it('is lost after ten minutes if accounting may be late, even if accounting prints warnings', async () => {
    for (const stderr of ['', 'sacct: warning: plugin not found\n']) {
      const world = new World();
      world.account = { ...says(''), stderr };
      assert.equal(await world.seconds(599), undefined);
      assert.equal(await world.seconds(60), 'JobLost');
    }
  });
  it('has ended with the exit status in its folder, at once, if there is no accounting', async () => {
    for (const [status, reason] of [
      [0, 'Completed'],
      [3, 'FAILED'],
    ] as const) {
      const world = new World();
      world.account = disabled;
      world.look = says(`0|/w/.minik8s/exited.-.${status}\n`);
      assert.equal(await world.seconds(20), reason);
    }
  });
  it('has ended as accounting reports, for any content of its folder', async () => {
    const world = new World();
    world.account = says(`7|TIMEOUT|0:15|${at}|${at}|${at}|n1\n`);
    world.look = says('0|/w/.minik8s/exited.-.0\n');
    assert.equal(await world.seconds(20), 'TIMEOUT');
  });
  it('is not lost while neither the queue nor accounting answers', async () => {
    for (const [queue, account] of [
      [fails(75, 'Unable to contact slurm controller'), disabled],
      [says(''), fails(1, 'sacct: error: Connection refused')],
    ] as const) {
      const world = new World();
      Object.assign(world, { queue, account });
      assert.equal(await world.seconds(3600), undefined);
    }
  });
  it('is lost after another whole period if it was listed in the meantime', async () => {
    const world = new World();
    world.account = disabled;
    assert.equal(await world.seconds(50), undefined);
    world.queue = says(`7|RUNNING|${at}|${at}|N/A|n1|None\n`);
    assert.equal(await world.seconds(120), undefined);
    world.queue = says('');
    assert.equal(await world.seconds(50), undefined);
    assert.equal(await world.seconds(60), 'JobLost');
  });
  it('includes an array with a task that the queue lacks and whose end accounting reports', async () => {
    const line = (task: number) => `7_${task}|RUNNING|${at}|${at}|N/A|n1|None\n`;
    for (const [queue, asked] of [
      [line(0) + line(1), 0],
      [line(0), 1],
      ['', 1],
    ] as const) {
      const world = new World({ run: ['true'], array: '0-1' });
      world.queue = says(queue);
      world.account = says(`7_1|COMPLETED|0:0|${at}|${at}|${at}|n1\n`);
      await world.seconds(4);
      assert.equal(world.accounted.length, asked, JSON.stringify(queue));
      assert.equal(world.entry.unknownSince === undefined, queue !== '', JSON.stringify(queue));
    }
  });
  it('causes a log line for each failure of accounting, with 500 characters of its message', async () => {
    const world = new World();
    world.account = fails(1, `  ${'x'.repeat(600)}\n`);
    await world.seconds(4);
    assert.deepEqual(
      world.log.of('warn').map(({ message, fields }) => [message, fields]),
      [['sacct has failed', { why: 'x'.repeat(500) }]],
    );
  });
  it('is lost as a whole if tasks of its array are missed one by one', async () => {
    const world = new World({ run: ['true'], array: '0-2' });
    world.account = disabled;
    world.queue = says(`7_1|RUNNING|${at}|${at}|N/A|n1|None\n`);
    world.look = says('0|/w/.minik8s/exited.0.0\n');
    assert.equal(await world.seconds(300), undefined, 'one runs');
    world.queue = says('');
    assert.equal(await world.seconds(120), 'JobLost');
    assert.match(world.verdict?.message ?? '', /no longer lists the job/);
  });
});

describe('a job whose tasks end between two checks of its folder', () => {
  const left = (...statuses: readonly string[]) =>
    says(statuses.map((name) => `0|/w/.minik8s/exited.${name}\n`).join(''));
  const line = (id: string, state: string) => `${id}|${state}|${at}|${at}|${at}|n1|None\n`;

  it('fails with the highest exit status of its tasks, even if the queue has none', async () => {
    const world = new World({ run: ['true'], array: '0-2' });
    world.queue = says(line('7_0', 'COMPLETED') + line('7_1', 'FAILED') + line('7_2', 'FAILED'));
    world.look = left('0.0', '1.1');
    world.onQueue = () => (world.look = left('0.0', '1.1', '2.2'));
    assert.equal(await world.seconds(4), 'FAILED');
    assert.match(world.verdict?.message ?? '', /exit status 2/);
  });
  it('does not get the status of its first run if Slurm has run it again', async () => {
    const world = new World();
    world.queue = says(line('7', 'FAILED'));
    world.look = left('-.3');
    world.onQueue = () => (world.look = left('-.5'));
    assert.equal(await world.seconds(4), 'FAILED');
    assert.match(world.verdict?.message ?? '', /exit status 5/);
  });
  it('is queried once more only when all its tasks have ended and accounting has no exit status', async () => {
    const counted = async (world: World) => {
      await world.seconds(1);
      return world.looks;
    };
    const runs = new World({ run: ['true'], array: '0-1' });
    runs.queue = says(line('7_0', 'FAILED') + line('7_1', 'RUNNING'));
    assert.equal(await counted(runs), 1, 'one task runs');
    const told = new World();
    told.account = says(`7|FAILED|3:0|${at}|${at}|${at}|n1\n`);
    assert.equal(await counted(told), 1, 'accounting has its status');
    const ended = new World();
    ended.queue = says(line('7', 'FAILED'));
    assert.equal(await counted(ended), 2);
  });
});

describe('the host', () => {
  it('receives no query while no job is followed, and the wait leaves no listener', async () => {
    const world = new World();
    Object.assign(world.entry, { status: { ...world.entry.status, phase: 'Building' } });
    const listeners = getEventListeners(world.stop.signal, 'abort').length;
    await world.seconds(60);
    const asked = world.queued;
    for (let i = 0; i < 20; i++) {
      world.follower.wake();
      await world.seconds(10);
    }
    assert.equal(world.queued, asked);
    assert.ok(getEventListeners(world.stop.signal, 'abort').length <= listeners + 1);
  });
  it('receives at most four queries of accounting a minute, none for jobs in the queue', async () => {
    const world = new World();
    await world.seconds(300);
    const pauses = world.accounted.slice(1).map((time, index) => time - (world.accounted[index] ?? 0));
    assert.ok(world.accounted.length > 10, 'it is asked');
    assert.ok(
      pauses.every((pause) => pause >= 15),
      JSON.stringify(world.accounted),
    );
    const hurried = new World();
    for (let second = 0; second < 120; second++) {
      hurried.follower.wake();
      await hurried.seconds(1);
    }
    assert.ok(hurried.queued > 20 && hurried.accounted.length <= 8, `${hurried.accounted.length}`);
    const known = new World();
    known.queue = says(`7|RUNNING|${at}|${at}|N/A|n1|None\n`);
    await known.seconds(300);
    assert.deepEqual(known.accounted, []);
    assert.ok(known.queued <= 21, `${known.queued} in five minutes`);
  });
  it('receives a query of the queue soon after a task has ended or a job was submitted, but not each time', async () => {
    const world = new World();
    world.queue = says(`7|RUNNING|${at}|${at}|N/A|n1|None\n`);
    await world.seconds(5);
    assert.equal(world.queued, 1);
    world.look = says('0|/w/.minik8s/exited.-.0\n');
    await world.seconds(5);
    assert.equal(world.queued, 2);
    world.follower.wake();
    world.follower.wake();
    await world.seconds(5);
    assert.equal(world.queued, 3);
  });
});

it('a failed query of the host is logged, unless the client has ended in the meantime', async () => {
  const world = new World();
  world.queue = fails(2, '  Unable to contact slurm controller\n');
  await world.seconds(4);
  world.queue = fails(2, '');
  await world.seconds(15);
  assert.deepEqual(
    world.log.of('warn').map(({ fields }) => fields),
    [{ why: 'squeue: Unable to contact slurm controller' }, { why: 'squeue: exit status 2' }],
  );
  world.onQueue = () => world.stop.abort();
  await world.seconds(60);
  assert.equal(world.log.of('warn').length, 2);
  assert.equal(world.clock.pending, 0);
});

describe('a job that begins', () => {
  it('is queried when a task of its array has output, and not at each other file', async () => {
    const world = new World({ run: ['true'], array: '0-1' });
    world.queue = says(`7_[0-1]|PENDING|${at}|N/A|N/A||Resources\n`);
    await world.seconds(3);
    world.look = says('0|/w/.minik8s/stderr-0\n0|/w/.minik8s/build.log\n');
    await world.seconds(5);
    assert.equal(world.queued, 1);
    world.look = says('0|/w/.minik8s/stderr-0\n0|/w/.minik8s/stdout-0\n');
    await world.seconds(5);
    assert.equal(world.queued, 2);
  });
  it('is queried when its output exists, and not only at the next round', async () => {
    const world = new World();
    const line = (state: string) => says(`7|${state}|${at}|${at}|N/A|n1|None\n`);
    world.queue = line('PENDING');
    await world.seconds(3);
    assert.equal(world.queued, 1);
    world.queue = line('RUNNING');
    world.look = says('0|/w/.minik8s/stdout\n');
    await world.seconds(4);
    assert.equal(world.queued, 2);
    assert.equal(world.entry.queue?.[0]?.state, 'RUNNING');
    await world.seconds(8);
    assert.equal(world.queued, 2, 'once');
  });
});

it('a job is queried when one of its files has grown, and not when none has grown or one has become shorter', async () => {
  const world = new World();
  world.queue = says(`7|RUNNING|${at}|${at}|N/A|n1|None\n`);
  const look = (stdout: number, stderr: number) => {
    world.look = says(`${stdout}|/w/.minik8s/stdout\n${stderr}|/w/.minik8s/stderr\n`);
  };
  look(1, 1);
  await world.seconds(10);
  const told = async (stdout: number, stderr: number) => {
    look(stdout, stderr);
    // The time is between two queries of the queue, which are news by themselves.
    const before = world.queued;
    while (world.queued === before) await world.seconds(1);
    const { news } = world;
    await world.seconds(6);
    assert.equal(world.queued, before + 1);
    return world.news > news;
  };
  assert.equal(await told(1, 1), false);
  const { news } = world;
  look(5, 1);
  await world.seconds(2);
  assert.ok(world.news > news, 'one grew and the other did not');
  assert.equal(await told(4, 1), false);
});
