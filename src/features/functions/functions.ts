/** Functions: programs that run when they are called, and scale to zero. */
import type { Feature } from '../feature.ts';
import type { FunctionFlags } from './api/settings.ts';
import { functionController, functionRights } from './controller/function.ts';
import type { RuntimeImages } from './controller/version-plan.ts';
import { warmPoolController, warmPoolRights } from './controller/warm-pool.ts';
import { functionRoles } from './roles.ts';
import { type FunctionCallOptions, functionsServer } from './server/functions-server.ts';
import { functions as functionMetrics } from './server/object-metrics.ts';

/**
 * Flags of functions, and what the master passes on; without the images of the runtimes there are no
 * instances.
 */
export interface FunctionSettings extends Partial<FunctionFlags> {
  /** Options of function calls; without them functions cannot be called. */
  readonly functionCalls?: FunctionCallOptions;
}

const account = 'function-controller';

/** Returns the images of the runtimes; undefined unless there is one of each. */
function runtimeImages(settings: FunctionSettings): RuntimeImages | undefined {
  const { 'python-image': python, 'nodejs-image': nodejs } = settings;
  return python === undefined || nodejs === undefined ? undefined : { python, nodejs };
}

export const functions: Feature<FunctionSettings> = {
  name: 'functions',
  roles: functionRoles,
  objectMetrics: [functionMetrics],
  server: ({ functionCalls }, context) => functionsServer(functionCalls, context),
  controllers: [
    {
      account,
      rights: functionRights,
      controller: (settings) => {
        const images = runtimeImages(settings);
        return images && functionController(images);
      },
    },
    {
      account,
      rights: warmPoolRights,
      controller: (settings) => {
        const [images, size] = [runtimeImages(settings), settings['warm-pool']];
        return images && size ? warmPoolController(images, size) : undefined;
      },
    },
  ],
};
