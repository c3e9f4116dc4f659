import type { World } from './world.ts';

/** A test of the dashboard that runs on the common cluster. */
export interface Step {
  /** A sentence that states a fact. */
  readonly name: string;
  run(world: World): Promise<void>;
}
