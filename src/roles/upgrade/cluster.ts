/** Access of `minik8s upgrade --nodes` to the cluster, through ctl of the installed file. */
import { networkInterfaces } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { runInstalled } from '../../installation/carry-out.ts';
import type { Executable } from '../../installation/plan/upgrade-plan.ts';
import type { Exec } from '../../os/exec.ts';

export interface ClusterOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Kubeconfig of the administrator. */
  readonly kubeconfig: string;
  /** The installed executable, which the API server of this machine serves. */
  readonly executable: Executable;
  readonly timeoutMs: number;
  readonly say: (line: string) => void;
}

/** Time in milliseconds between two checks of an upgrade in progress. */
export const pollMs = 1_000;
/** Time in milliseconds that the download and the report of a failure may take in addition to the timeout. */
export const reportMs = 60_000;

/** Returns the error of a machine that neither did what it should in time, nor reported that it went back. */
export const lateText = (what: string, timeoutMs: number): string =>
  `it did not ${what} within ${timeoutMs / 1000} s (--timeout), and reported no failure within another ${(timeoutMs + reportMs) / 1000} s`;

export async function readJson<T>(options: ClusterOptions, what: readonly string[]): Promise<T> {
  return JSON.parse(await ctl(options, ['get', ...what, '-o', 'json'])) as T;
}

export const ctl = ({ exec, kubeconfig }: ClusterOptions, args: readonly string[]): Promise<string> =>
  runInstalled(exec, ['ctl', '--kubeconfig', kubeconfig, ...args]);

/** Returns the addresses of this machine. */
export const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
