/** The real kubectl, as users run it. */
import { ExecError, type ExecOptions, systemExec } from '../../../src/os/exec.ts';
import { anyKubectl, withoutCollecting } from '../../fixtures/kubectls.ts';
import { objectReader } from './objects.ts';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Kubectl {
  /** Returns standard output; throws if kubectl fails. */
  (...args: string[]): Promise<string>;
  /**
   * Returns the object or list of `get TYPE [NAME]`, read without kubectl (objects.ts). Throws where kubectl
   * would fail.
   */
  json<T>(...args: string[]): Promise<T>;
  /** Never throws because of a failure of kubectl. */
  attempt(args: readonly string[], options?: ExecOptions): Promise<KubectlResult>;
}

export function kubectlFor(kubeconfig: string): Kubectl {
  const file = anyKubectl();
  const start = (args: readonly string[], options: ExecOptions = {}) =>
    systemExec(file, ['--kubeconfig', kubeconfig, ...args], {
      timeoutMs: 60_000,
      ...options,
      env: { ...(options.env ?? process.env), ...withoutCollecting },
    });
  const read = objectReader(kubeconfig);
  const kubectl = async (...args: string[]) => (await start(args)).stdout;
  return Object.assign(kubectl, {
    json: async <T>(...args: string[]) => (await read(args)) as T,
    attempt: async (args: readonly string[], options?: ExecOptions) => {
      try {
        return { code: 0, ...(await start(args, options)) };
      } catch (error) {
        if (!(error instanceof ExecError) || error.failure.code === undefined) throw error;
        const { code, stdout, stderr } = error.failure;
        return { code, stdout, stderr };
      }
    },
  });
}
