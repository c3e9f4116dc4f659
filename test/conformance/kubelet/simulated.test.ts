import { systemClock } from '../../../src/base/clock.ts';
import { SimulatedRuntime } from '../../../src/kubelet/runtime/simulated.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { runtimeConformance } from './runtime-suite.ts';

runtimeConformance('simulated', async () => {
  const runtime = new SimulatedRuntime({
    clock: systemClock,
    random: new SeededRandom(3),
    images: new Map([['test:1', { present: true }]]),
  });
  return {
    runtime,
    image: 'test:1',
    talker: ['talk'],
    failing: ['fail'],
    settle(id, what) {
      if (what === 'fail') return runtime.exit(id, 3);
      runtime.print(id, 'one');
      runtime.print(id, 'two');
    },
    readPauseArchive: async () => new Uint8Array(),
    close: async () => {},
  };
});
