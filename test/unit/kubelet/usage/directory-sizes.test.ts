/** Sizes of directories: the times at which they are counted, and the result when they are not complete. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { DirectorySizes } from '../../../../src/kubelet/usage/directory-sizes.ts';
import { ExecError } from '../../../../src/os/exec.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

let clock: FakeClock;
let counted: string[][];
/** Bytes and files of each directory; `du` cannot count a directory that is missing here. */
let there: Map<string, readonly [bytes: number, files: number]>;
let sizes: DirectorySizes;
const du = (args: readonly string[]) => {
  const directories = args.slice(args.indexOf('--') + 1);
  const isFiles = args.includes('--inodes');
  if (!isFiles) counted.push(directories);
  const lines = directories.flatMap((name) => {
    const found = there.get(name);
    return found ? [`${isFiles ? found[1] : found[0]}\t${name}\0`] : [];
  });
  return { stdout: lines.join(''), stderr: '', isWhole: lines.length === directories.length };
};
beforeEach(() => {
  [clock, counted, there] = [new FakeClock(), [], new Map()];
  sizes = new DirectorySizes({
    clock,
    log: new RecordingLogger(),
    exec: async (file, args) => {
      const { isWhole, ...result } = du(args);
      if (!isWhole) throw new ExecError({ file, args, code: 1, ...result }, 'ended with status 1');
      return result;
    },
  });
});
const want = async (...directories: string[]) => {
  sizes.want(directories);
  await sizes.settled();
};
const bytes = (name: string) => sizes.get(name)?.bytes;

describe('the sizes of directories', () => {
  it('are counted once a minute, and sooner for a new directory', async () => {
    there.set('/a', [4096, 2]).set('/b', [8192, 3]);
    assert.equal(sizes.get('/a'), undefined);
    await want('/a', '/a');
    assert.deepEqual(sizes.get('/a'), { at: clock.now(), bytes: 4096, inodes: 2 });
    assert.deepEqual(counted, [['/a']]);
    await want('/a', '/b');
    assert.equal(counted.length, 1, 'not with each request');
    await clock.advance(10_000);
    await want('/a', '/b');
    assert.deepEqual([bytes('/b'), counted.length], [8192, 2]);
    await clock.advance(59_999);
    await want('/a', '/b');
    assert.equal(counted.length, 2);
    await clock.advance(1);
    await want('/a', '/b');
    assert.equal(counted.length, 3);
  });

  it('are reported for the remaining directories, if others were removed meanwhile', async () => {
    there.set('/a\nb', [4096, 2]);
    await want('/gone', '/a\nb');
    assert.deepEqual([bytes('/gone'), bytes('/a\nb')], [undefined, 4096]);
  });

  it('are dropped for directories that are no longer requested', async () => {
    there.set('/a', [1, 1]).set('/b', [2, 1]);
    await want('/a', '/b');
    await clock.advance(60_000);
    await want('/b');
    assert.deepEqual([bytes('/a'), bytes('/b')], [undefined, 2]);
  });

  it('are counted fifty at a time', async () => {
    const names = Array.from({ length: 120 }, (_, n) => `/d${n}`);
    for (const name of names) there.set(name, [1, 1]);
    await want(...names);
    assert.deepEqual(
      counted.map(({ length }) => length),
      [50, 50, 20],
    );
    assert.ok(names.every((name) => bytes(name) === 1));
  });

  it('are not counted after the end', async () => {
    there.set('/a', [1, 1]);
    await sizes.close();
    await want('/a');
    assert.deepEqual(counted, []);
  });
});

describe('counting directories', () => {
  type Asked = {
    readonly file: string;
    readonly args: readonly string[];
    readonly signal: AbortSignal | undefined;
  };
  let asked: Asked[];
  let log: RecordingLogger;
  /** Sizes with the output of each run of `du`. */
  function counting(answer: (asked: Asked) => Promise<string>): DirectorySizes {
    [asked, log] = [[], new RecordingLogger()];
    return new DirectorySizes({
      clock,
      log,
      exec: async (file, args, options) => {
        assert.deepEqual([options?.lengthy, options?.timeoutMs], [true, 60_000]);
        const one = { file, args, signal: options?.signal };
        asked.push(one);
        return { stdout: await answer(one), stderr: '' };
      },
    });
  }

  it('stays in their file system, and does not use a name as an option', async () => {
    const counted = counting(async () => '');
    counted.want(['-a']);
    await counted.settled();
    const rest = ['--', '-a'];
    assert.deepEqual(
      asked.map(({ file, args }) => [file, ...args]),
      [
        ['du', '--summarize', '--one-file-system', '--null', '--block-size=1', ...rest],
        ['du', '--summarize', '--one-file-system', '--null', '--inodes', ...rest],
      ],
    );
  });

  it('reports only complete counts from the lines of du', async () => {
    const counted = counting(async ({ args }) =>
      args.includes('--inodes') ? '1\t/a\0' + '2\t/b\0' : '5\t/a\0' + '6\t/c\0' + 'x\t/b\0' + '\0odd\0',
    );
    counted.want(['/a', '/b', '/c', 'undefined']);
    await counted.settled();
    assert.deepEqual(
      ['/a', '/b', '/c', 'undefined', ''].map((name) => counted.get(name)?.bytes),
      [5, undefined, undefined, undefined, undefined],
    );
  });

  it('is done by one program at a time, and is aborted without a log line when its owner is closed', async () => {
    const counted = counting(
      ({ signal }) =>
        new Promise((_, reject) => {
          if (signal?.aborted) reject(new Error('aborted'));
          else signal?.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    );
    counted.want(Array.from({ length: 60 }, (_, index) => `/d${index}`));
    await clock.advance(60_000);
    counted.want(['/b']);
    assert.equal(asked.length, 1);
    await counted.close();
    assert.equal(asked.length, 2, 'both runs for the first fifty directories');
    assert.deepEqual(log.lines, []);
    counted.want(['/c']);
    await counted.settled();
    assert.equal(asked.length, 2);
  });

  it('logs a failure and retries after its interval', async () => {
    let fails = true;
    const counted = counting(async () => {
      if (fails) throw new Error('no du');
      return '5\t/a\0';
    });
    counted.want(['/a']);
    await counted.settled();
    assert.deepEqual(
      log.of('debug').map(({ message, fields }) => [message, fields.error]),
      Array(2).fill(['cannot measure directories', 'no du']),
    );
    fails = false;
    await clock.advance(9_999);
    counted.want(['/a']);
    await counted.settled();
    assert.equal(counted.get('/a'), undefined);
    await clock.advance(1);
    counted.want(['/a']);
    await counted.settled();
    assert.equal(counted.get('/a')?.bytes, 5);
  });
});
