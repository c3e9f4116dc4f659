/** Contract of every ContainerRuntime for streams. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { duplexPair, PassThrough, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { after, before, describe, it } from 'node:test';
import type { ContainerConfig } from '../../../src/kubelet/runtime/container-config.ts';
import type { ContainerRuntime, ProcessStreams, SandboxState } from '../../../src/kubelet/runtime/runtime.ts';
import { TerminalSizes } from '../../../src/kubelet/server/streaming/terminal-sizes.ts';
import { plainContainer } from '../../fixtures/container-config.ts';
import type { RuntimeFixture } from './runtime-suite.ts';

function noSizes(): TerminalSizes {
  const sizes = new TerminalSizes();
  sizes.end();
  return sizes;
}

/** Stream that keeps the written data, as slowly as requested. */
class Sink extends Writable {
  readonly #chunks: Buffer[] = [];
  /**
   * Ends the stream and returns all data once all of it has arrived. The caller of a program must end
   * its streams.
   */
  async content(): Promise<Buffer> {
    this.end();
    await finished(this);
    return Buffer.concat(this.#chunks);
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    setImmediate(done);
  }
}

const never = () => new AbortController().signal;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export function runtimeStreamsConformance(name: string, start: () => Promise<RuntimeFixture>): void {
  describe(`streams of container runtime: ${name}`, () => {
    let fixture: RuntimeFixture;
    let runtime: ContainerRuntime;
    let sandbox: SandboxState;
    let id: string;
    const pod = { uid: 'b1a7c0de-0000-4000-8000-000000000002', name: 'streams', namespace: 'shop' };

    async function run(more: Partial<ContainerConfig> & { name: string }): Promise<string> {
      const image = (await runtime.findImage(fixture.image)) ?? assert.fail('the image is not there');
      const made = await runtime.createContainer({
        ...plainContainer,
        pod,
        sandboxId: sandbox.id,
        image: fixture.image,
        imageId: image.id,
        argv: fixture.talker,
        ...more,
      });
      await runtime.startContainer(made);
      return made;
    }

    before(async () => {
      fixture = await start();
      runtime = fixture.runtime;
      await runtime.prepare(fixture.readPauseArchive);
      sandbox = await runtime.runSandbox({ ip: '10.231.9.10', hostname: undefined });
      await runtime.assignSandbox(sandbox.id, pod, 0);
      await fixture.bringUp(sandbox);
      id = await run({ name: 'main' });
    });
    after(async () => {
      for (const { id } of await runtime.list()) await runtime.remove(id);
      await fixture.close();
    });

    it('runs a program and returns both outputs separately and the exit status', async () => {
      const streams = { stdin: undefined, stdout: new Sink(), stderr: new Sink(), sizes: noSizes() };
      assert.equal(await runtime.exec(id, { command: fixture.speaker, tty: false }, streams, never()), 3);
      assert.equal(String(await streams.stdout.content()), 'out\n');
      assert.equal(String(await streams.stderr.content()), 'err\n');
    });

    it('drops unread outputs', async () => {
      const streams: ProcessStreams = {
        stdin: undefined,
        stdout: undefined,
        stderr: undefined,
        sizes: noSizes(),
      };
      assert.equal(await runtime.exec(id, { command: fixture.speaker, tty: false }, streams, never()), 3);
    });

    it('gives a program megabytes of input until its end, and loses nothing of its output', async () => {
      const sent = randomBytes(3_000_000);
      const stdin = Readable.from(
        (function* () {
          for (let at = 0; at < sent.length; at += 50_000) yield sent.subarray(at, at + 50_000);
        })(),
        { objectMode: false },
      );
      const streams = { stdin, stdout: new Sink(), stderr: new Sink(), sizes: noSizes() };
      assert.equal(await runtime.exec(id, { command: fixture.copier, tty: false }, streams, never()), 0);
      assert.equal(sha256(await streams.stdout.content()), sha256(sent));
    });

    it('ends the streams of a program when the call is aborted', async () => {
      const stop = new AbortController();
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const streams = { stdin, stdout, stderr: undefined, sizes: noSizes() };
      const running = runtime.exec(id, { command: fixture.copier, tty: false }, streams, stop.signal);
      stdin.write('there\n');
      for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
        assert.equal(String(chunk), 'there\n');
        break;
      }
      stop.abort();
      stdin.write('gone\n');
      await assert.rejects(running);
    });

    it('rejects programs in and attachments to a container that has ended', async () => {
      const ended = await run({ name: 'ended' });
      await runtime.kill(ended);
      const deadline = AbortSignal.timeout(120_000);
      for (;;) {
        const found = await runtime.inspect(ended);
        if (found?.state === 'exited') break;
        deadline.throwIfAborted();
      }
      const streams = { stdin: undefined, stdout: new Sink(), stderr: undefined, sizes: noSizes() };
      await assert.rejects(runtime.exec(ended, { command: fixture.speaker, tty: false }, streams, never()), {
        name: 'RuntimeError',
        reason: 'Conflict',
      });
      // The attach is rejected; the caller reads the log instead.
      await assert.rejects(runtime.attach(ended, streams, never()), {
        name: 'RuntimeError',
        reason: 'Conflict',
      });
    });

    it("attaches to a container, and ends an input that is read once together with the client's input", async () => {
      const copier = await run({ name: 'copier', argv: fixture.copier, stdin: true, stdinOnce: true });
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const attached = runtime.attach(
        copier,
        { stdin, stdout, stderr: undefined, sizes: noSizes() },
        never(),
      );
      stdin.write('hello\n');
      for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
        assert.equal(String(chunk), 'hello\n');
        break;
      }
      stdin.end('bye\n');
      await attached;
      stdout.end();
      assert.equal(await text(stdout), 'bye\n');
    });

    it('detaches from a container when requested, and the container keeps running', async () => {
      const copier = await run({ name: 'stays', argv: fixture.copier, stdin: true });
      const stop = new AbortController();
      const [stdin, stdout] = [new PassThrough(), new PassThrough()];
      const attached = runtime.attach(
        copier,
        { stdin, stdout, stderr: undefined, sizes: noSizes() },
        stop.signal,
      );
      stdin.write('hello\n');
      for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
        assert.equal(String(chunk), 'hello\n');
        break;
      }
      stop.abort();
      await assert.rejects(attached);
      assert.equal((await runtime.inspect(copier))?.state, 'running');
    });

    it('connects to a port that is only reachable inside the pod', async () => {
      await run({ name: 'listener', argv: fixture.listener });
      const deadline = AbortSignal.timeout(120_000);
      for (;;) {
        const [ours, theirs] = duplexPair();
        ours.end('GET /passwd HTTP/1.0\r\n\r\n');
        const answer = text(ours);
        try {
          await runtime.portForward(sandbox.id, 8080, theirs, deadline);
        } catch (error) {
          // The program may not listen yet.
          if (!/refused/.test(String(error))) throw error;
          continue;
        }
        assert.match(await answer, /^root:/m);
        return;
      }
    });

    it('reports in one line that no server listens', async () => {
      const [, theirs] = duplexPair();
      await assert.rejects(runtime.portForward(sandbox.id, 8099, theirs, never()), {
        name: 'RuntimeError',
        message: 'connect to port 8099: Connection refused',
      });
    });

    it('reports a port without a server also to a client that has ended its own side', async () => {
      const [ours, theirs] = duplexPair();
      ours.end('hello');
      ours.resume();
      await assert.rejects(runtime.portForward(sandbox.id, 8099, theirs, never()), {
        name: 'RuntimeError',
        message: 'connect to port 8099: Connection refused',
      });
    });
  });
}
