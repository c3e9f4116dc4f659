/** Runs `minik8s doctor` and other programs on the machines of a test, and reads its report. */
import assert from 'node:assert/strict';
import type { Finding } from '../../../src/doctor/finding.ts';
import { ExecError, systemExec } from '../../../src/os/exec.ts';
import { executable } from './cluster.ts';
import type { Host } from './host.ts';

export interface Report {
  readonly version: number;
  readonly severity: string;
  readonly exitStatus: number;
  readonly fixed: readonly { readonly command: string; readonly problem?: string }[];
  readonly findings: readonly (Finding & { readonly isFixable: boolean })[];
}

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program on the host, whichever its exit status is. */
export async function attempt(host: Host, program: string, ...args: readonly string[]): Promise<Run> {
  try {
    return { code: 0, ...(await systemExec(...host.command(program, args), { timeoutMs: 120_000 })) };
  } catch (error) {
    if (!(error instanceof ExecError) || error.failure.code === undefined) throw error;
    const { code, stdout, stderr } = error.failure;
    return { code, stdout, stderr };
  }
}

/** Runs a printed command as a user would type it on the host. */
export const type = (host: Host, command: string) => host.run('bash', '-euo', 'pipefail', '-c', command);

/** Runs the doctor on the host. */
export async function examine(host: Host, args: readonly string[]): Promise<Report> {
  const { code, stdout, stderr } = await attempt(host, executable, 'doctor', '--json', ...args);
  assert.equal(stderr, '');
  const report: Report = JSON.parse(stdout);
  assert.equal(report.version, 1);
  assert.equal(report.exitStatus, code);
  return report;
}

export const faultsIn = ({ findings }: Report) => findings.filter(({ severity }) => severity === 'fault');

export const found = (report: Report, check: string) =>
  findingsOf(report, check).map(({ found: text }) => text);

export const findingsOf = ({ findings }: Report, name: string) =>
  findings.filter(({ check }) => check === name);
