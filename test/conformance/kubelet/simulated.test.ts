import { once } from 'node:events';
import { systemClock } from '../../../src/base/clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../fixtures/simulated-runtime.ts';
import { copyInput, type Program } from '../../fixtures/simulated-streams.ts';
import { runtimeStreamsConformance } from './runtime-streams-suite.ts';
import { type RuntimeFixture, runtimeConformance } from './runtime-suite.ts';

const program: Program = async (command, streams, signal) => {
  if (command[0] !== 'speak') return copyInput(command, streams, signal);
  streams.stdout?.write('out\n');
  streams.stderr?.write('err\n');
  return 3;
};

const start = async (): Promise<RuntimeFixture> => {
  const runtime = new SimulatedRuntime({
    clock: systemClock,
    random: new SeededRandom(3),
    images: new Map([
      ['test:1', { present: true }],
      ['data:1', { present: true }],
    ]),
    onExec: program,
    onConnect: (port) =>
      port === 8080
        ? async (connection) => {
            await once(connection, 'readable');
            connection.write('root:x:0:0\n');
          }
        : undefined,
  });
  return {
    runtime,
    image: 'test:1',
    data: 'data:1',
    talker: ['talk'],
    failing: ['fail'],
    copier: ['copy'],
    speaker: ['speak'],
    listener: ['listen'],
    bringUp: async () => {},
    settle(id, what) {
      if (what === 'fail') return runtime.exit(id, 3);
      runtime.print(id, 'one');
      runtime.print(id, 'two');
    },
    readPauseArchive: async () => new Uint8Array(),
    close: async () => {},
  };
};

runtimeConformance('simulated', start);
runtimeStreamsConformance('simulated', start);
