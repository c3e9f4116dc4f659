/** Contract of every ContainerRuntime, whatever its engine is. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ContainerConfig } from '../../../src/kubelet/runtime/container-config.ts';
import type {
  ContainerRuntime,
  ContainerState,
  RuntimeEvent,
  SandboxState,
} from '../../../src/kubelet/runtime/runtime.ts';
import { plainContainer } from '../../fixtures/container-config.ts';

export interface RuntimeFixture {
  readonly runtime: ContainerRuntime;
  /** Existing image. */
  readonly image: string;
  /** Another image, from which no container is created. */
  readonly data: string;
  /** Command that prints `one`, `two` and then waits; does not ignore signals. */
  readonly talker: readonly string[];
  /** Command that soon exits with 3, by itself or because of `settle`. */
  readonly failing: readonly string[];
  /** Command that copies its input to its output. */
  readonly copier: readonly string[];
  /** Command that prints `out`, and `err` on its error output; exits with 3. */
  readonly speaker: readonly string[];
  /**
   * Command that answers `GET /passwd` with a line that begins with `root:` on 127.0.0.1:8080, and nothing on
   * other addresses.
   */
  readonly listener: readonly string[];
  /** Creates the interfaces that the pod network creates in a sandbox. */
  bringUp(sandbox: SandboxState): Promise<void>;
  /** Simulates the behavior that real containers have by themselves. */
  settle(id: string, what: 'talk' | 'fail'): void;
  readonly readPauseArchive: () => Promise<Uint8Array>;
  close(): Promise<void>;
}

export function runtimeConformance(name: string, start: () => Promise<RuntimeFixture>): void {
  describe(`container runtime: ${name}`, () => {
    let fixture: RuntimeFixture;
    let runtime: ContainerRuntime;
    const pod = { uid: 'b1a7c0de-0000-4000-8000-000000000001', name: 'web', namespace: 'shop' };

    before(async () => {
      fixture = await start();
      runtime = fixture.runtime;
      await runtime.prepare(fixture.readPauseArchive);
    });
    after(() => fixture.close());

    async function config(
      sandbox: SandboxState,
      more: Partial<ContainerConfig> = {},
    ): Promise<ContainerConfig> {
      const image = (await runtime.findImage(fixture.image)) ?? assert.fail('the image is not there');
      return {
        ...plainContainer,
        pod,
        name: 'main',
        sandboxId: sandbox.id,
        image: fixture.image,
        imageId: image.id,
        specHash: 'abc',
        argv: fixture.talker,
        env: ['A=b'],
        gracePeriodSeconds: 7,
        ...more,
      };
    }

    async function container(id: string): Promise<ContainerState> {
      const found = await runtime.inspect(id);
      assert.equal(found?.kind, 'container');
      return found as ContainerState;
    }

    async function until(id: string, state: ContainerState['state']): Promise<ContainerState> {
      const watching = AbortSignal.timeout(120_000);
      for (;;) {
        const found = await container(id);
        if (found.state === state) return found;
        watching.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }

    async function withSandbox(work: (sandbox: SandboxState) => Promise<void>): Promise<void> {
      const made = await runtime.runSandbox({ ip: '10.231.9.9', hostname: undefined });
      try {
        await runtime.assignSandbox(made.id, pod, 2);
        await work(made);
      } finally {
        for (const { id } of await runtime.list()) await runtime.remove(id);
      }
    }

    it('returns its version', async () => {
      const { apiVersion, handlers = [] } = await runtime.version();
      assert.match(apiVersion, /^\d+\.\d+$/);
      assert.deepEqual(
        ['', 'runc'].map((name) => handlers.filter((one) => one.name === name).length),
        [1, 1],
      );
    });

    it('creates an unassigned sandbox, then assigns it to a pod', async () => {
      const made = await runtime.runSandbox({ ip: '10.231.9.8', hostname: 'web' });
      try {
        assert.equal(made.pod, undefined);
        assert.equal(made.state, 'running');
        assert.equal(made.ip, '10.231.9.8');
        assert.equal(made.hostname, 'web');
        assert.ok(made.pid > 0);
        await runtime.assignSandbox(made.id, pod, 2);
        const found = await runtime.inspect(made.id);
        assert.equal(found?.kind, 'sandbox');
        assert.deepEqual(found?.pod, pod);
        assert.equal(found?.attempt, 2);
      } finally {
        await runtime.remove(made.id);
      }
    });

    it('refuses to assign a sandbox that no longer exists', async () => {
      await assert.rejects(runtime.assignSandbox('0'.repeat(64), pod, 0), {
        name: 'RuntimeError',
        reason: 'NotFound',
      });
    });

    it('reports each state of a container, and keeps its labels', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox, { attempt: 4, crashes: 3 }));
        const created = await container(id);
        assert.equal(created.state, 'created');
        await runtime.startContainer(id);
        const running = await container(id);
        assert.equal(running.state, 'running');
        assert.deepEqual(running.pod, pod);
        assert.equal(running.name, 'main');
        assert.equal(running.sandboxId, sandbox.id);
        assert.equal(running.image, fixture.image);
        assert.equal(running.specHash, 'abc');
        assert.equal(running.attempt, 4);
        assert.equal(running.crashes, 3);
        assert.equal(running.gracePeriodSeconds, 7);
        assert.ok(running.startedAt !== undefined && running.startedAt >= running.createdAt);
        assert.equal(running.finishedAt, undefined);
        await runtime.kill(id);
        const dead = await until(id, 'exited');
        assert.equal(dead.exitCode, 137);
        assert.ok(dead.finishedAt !== undefined && dead.finishedAt >= (dead.startedAt ?? 0));
      }));

    it('returns the user and the groups of a container, also after its end', () =>
      withSandbox(async (sandbox) => {
        const of = async (more: Partial<ContainerConfig>) => {
          const id = await runtime.createContainer(await config(sandbox, more));
          await runtime.startContainer(id);
          const { user } = await container(id);
          await runtime.kill(id);
          assert.deepEqual((await until(id, 'exited')).user, user);
          return user ? [user.uid, user.gid, user.supplementalGroups.filter((gid) => gid !== user.gid)] : [];
        };
        assert.deepEqual(await of({ attempt: 0, user: '1234:2345', groups: [77] }), [1234, 2345, [77]]);
        assert.deepEqual((await of({ attempt: 1 })).slice(0, 2), [0, 0]);
      }));

    it('returns how a container ended', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox, { argv: fixture.failing }));
        await runtime.startContainer(id);
        fixture.settle(id, 'fail');
        assert.equal((await until(id, 'exited')).exitCode, 3);
      }));

    it('lists sandboxes and containers until they are removed, and ignores a second removal', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox));
        await runtime.startContainer(id);
        const listed = await runtime.list();
        assert.deepEqual(
          listed.map((summary) => [summary.id, summary.kind, summary.state]).toSorted(),
          [
            [id, 'container', 'running'],
            [sandbox.id, 'sandbox', 'running'],
          ].toSorted(),
        );
        await runtime.remove(id);
        await runtime.remove(id);
        assert.equal(await runtime.inspect(id), undefined);
        assert.deepEqual(
          (await runtime.list()).map((summary) => summary.id),
          [sandbox.id],
        );
      }));

    const output = async (id: string, more: object = {}) => {
      const options = { follow: false, timestamps: false, tailLines: undefined, since: undefined, ...more };
      let text = '';
      for await (const chunk of await runtime.logs(id, options, AbortSignal.timeout(120_000))) {
        text += Buffer.from(chunk).toString();
      }
      return text;
    };

    /** Resolves when the talker runs and has printed everything. */
    const talked = async (id: string) => {
      fixture.settle(id, 'talk');
      const deadline = AbortSignal.timeout(120_000);
      while ((await output(id)) !== 'one\ntwo\n') deadline.throwIfAborted();
    };

    it('stops a container with the signal of its image', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox));
        await runtime.startContainer(id);
        // The first process of a container ignores a signal that arrives before it has installed a handler.
        await talked(id);
        await runtime.terminate(id);
        await until(id, 'exited');
        await runtime.terminate(id);
        await runtime.kill(id);
      }));

    it('returns the whole output of a container, its last lines, its lines with timestamps, and its lines until the container ends', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox));
        await runtime.startContainer(id);
        await talked(id);
        const read = (more: object) => output(id, more);
        assert.equal(await read({ tailLines: 1 }), 'two\n');
        assert.equal(await read({ tailLines: 0 }), '');
        assert.match(
          await read({ timestamps: true, tailLines: 1 }),
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z two\n$/,
        );
        assert.equal(await read({ since: Date.now() + 60_000 }), '');
        const following = read({ follow: true });
        await runtime.kill(id);
        assert.equal(await following, 'one\ntwo\n');
      }));

    it('reports changes as they happen, and ends on request', () =>
      withSandbox(async (sandbox) => {
        const stop = new AbortController();
        const seen: RuntimeEvent[] = [];
        const { promise: ready, resolve } = Promise.withResolvers<void>();
        const watching = (async () => {
          for await (const event of runtime.events(stop.signal, resolve)) seen.push(event);
        })();
        await ready;
        const id = await runtime.createContainer(await config(sandbox));
        await runtime.startContainer(id);
        await runtime.kill(id);
        await until(id, 'exited');
        await runtime.remove(id);
        const deadline = AbortSignal.timeout(120_000);
        while (seen.filter((event) => event.id === id).length < 3) {
          deadline.throwIfAborted();
          await new Promise((done) => setTimeout(done, 10));
        }
        assert.ok(seen.every(({ kind }) => kind === 'container' || kind === 'sandbox'));
        stop.abort();
        await watching;
      }));

    it('reports a container that cannot run because its sandbox has ended', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox));
        await runtime.kill(sandbox.id);
        await assert.rejects(runtime.startContainer(id), { name: 'RuntimeError', reason: 'SandboxEnded' });
      }));

    it('creates a container with the requested runtime, or without one', () =>
      withSandbox(async (sandbox) => {
        const id = await runtime.createContainer(await config(sandbox, { runtime: 'runc' }));
        await runtime.startContainer(id);
        await until(id, 'running');
        const other = await config(sandbox, { runtime: 'not-there', attempt: 1 });
        await assert.rejects(runtime.createContainer(other), /unknown.* runtime|runtime.* not-there/i);
        assert.equal((await runtime.list()).length, 2);
      }));

    it('fails to run an image or a command that does not exist', () =>
      withSandbox(async () => {
        await assert.rejects(runtime.startContainer('0'.repeat(64)), { reason: 'CannotRun' });
        assert.equal(await runtime.findImage('minik8s-test/absent:1'), undefined);
        await assert.rejects(runtime.pullImage('127.0.0.1:1/absent:1', AbortSignal.timeout(120_000)), {
          reason: 'PullFailed',
        });
      }));

    it('lists the images in use, and keeps their names', () =>
      withSandbox(async (sandbox) => {
        const made = await config(sandbox);
        const id = await runtime.createContainer(made);
        assert.ok((await runtime.usedImages()).has(made.imageId));
        await runtime.removeImage('minik8s-test/absent:1');
        await runtime.remove(id);
        assert.equal((await runtime.usedImages()).has(made.imageId), false);
      }));

    it('mounts an image read-only any number of times, or reports that it does not support that', () =>
      withSandbox(async (sandbox) => {
        const data = (await runtime.findImage(fixture.data)) ?? assert.fail('the image is not there');
        const imageMounts = ['/a', '/b'].map((target) => ({ imageId: data.id, target, subPath: '' }));
        const made = await config(sandbox, { imageMounts });
        if (!(await runtime.version()).canMountImages) {
          await assert.rejects(runtime.createContainer(made), /does not support mounts of images/);
          return;
        }
        const id = await runtime.createContainer(made);
        await runtime.startContainer(id);
        await until(id, 'running');
        assert.ok((await runtime.usedImages()).has(data.id));
        await runtime.remove(id);
        assert.equal((await runtime.usedImages()).has(data.id), false);
        const imageId = `sha256:${'0'.repeat(64)}`;
        const absent = await config(sandbox, { imageMounts: [{ imageId, target: '/a', subPath: '' }] });
        await assert.rejects(runtime.createContainer(absent), { reason: 'NotFound' });
      }));
  });
}
