/** Wires the room `functions`: the images and the warm instances of functions. */
import { nodeFunctions } from '../functions/functions.ts';
import type { ImagesRoom } from './images.ts';
import type { Shared } from './shared.ts';

export type FunctionsRoom = ReturnType<typeof wireFunctions>;

export function wireFunctions({ environment, builds, program, ...rest }: Shared & ImagesRoom) {
  return { functions: nodeFunctions({ ...rest, builds, program, environment: environment ?? {} }) };
}
