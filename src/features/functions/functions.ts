/** Functions: programs that run when they are called, and scale to zero. */
import type { Feature } from '../feature.ts';
import { functionController, functionRights } from './controller/function.ts';
import type { RuntimeImages } from './controller/version-plan.ts';
import { warmPoolController, warmPoolRights } from './controller/warm-pool.ts';
import { functionRoles } from './roles.ts';
import { type FunctionCallOptions, functionsServer } from './server/functions-server.ts';
import { functions as functionMetrics } from './server/object-metrics.ts';

export interface FunctionSettings {
  /** Options of function calls; without them functions cannot be called. */
  readonly functionCalls?: FunctionCallOptions;
  /** Images of function runtimes; without them Functions have no instances. */
  readonly runtimeImages?: RuntimeImages;
  /**
   * Number of instances of a runtime that wait in each namespace with functions of that runtime; default
   * none.
   */
  readonly warmPool?: number;
}

const account = 'function-controller';

export const functions: Feature<FunctionSettings> = {
  name: 'functions',
  roles: functionRoles,
  objectMetrics: [functionMetrics],
  server: ({ functionCalls }, context) => functionsServer(functionCalls, context),
  controllers: [
    {
      account,
      rights: functionRights,
      controller: ({ runtimeImages }) => runtimeImages && functionController(runtimeImages),
    },
    {
      account,
      rights: warmPoolRights,
      controller: ({ runtimeImages, warmPool }) =>
        runtimeImages && warmPool ? warmPoolController(runtimeImages, warmPool) : undefined,
    },
  ],
};
