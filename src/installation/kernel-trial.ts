/** Tries the features of the kernel that a node's network requires. */
import { errorMessage } from '../base/log.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { type KernelFeature, type Lack, lackOf } from './plan/kernel-features.ts';

/** Resolves to the reason why the feature cannot be used; to undefined if it can. */
export async function tryFeature(exec: Exec, feature: KernelFeature): Promise<Lack | undefined> {
  const { program, args, input } = feature;
  try {
    await exec(program, args, input === undefined ? {} : { input });
    return undefined;
  } catch (error) {
    const { code, stderr = '' } = error instanceof ExecError ? error.failure : { code: 1 };
    return lackOf(errorMessage(error), code, stderr);
  }
}
