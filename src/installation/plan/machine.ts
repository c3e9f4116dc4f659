/** Facts about the machine, on which the plan of an installation is based. */
import type { Installed } from './installed.ts';
import type { NodeProgram, PackageManager } from './packages.ts';

/** An entry of the file system. The text of a file above 256 KiB is not read. */
export type Found =
  | { readonly kind: 'file'; readonly text: string | undefined; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'other' };

export interface Machine {
  readonly hasSystemd: boolean;
  readonly packageManager: PackageManager | undefined;
  readonly lackingPrograms: readonly NodeProgram[];
  /** State of the Docker engine: it answers, is installed and does not answer, or is missing. */
  readonly docker: 'answers' | 'installed' | 'missing';
  /** Entries of the file system by path; a path that does not exist is missing. */
  readonly found: ReadonlyMap<string, Found>;
  /** Digest of the installed executable; undefined if there is none. */
  readonly executableDigest: string | undefined;
  readonly sysctls: ReadonlyMap<string, string>;
  /** Kernel modules of a node that are neither loaded nor part of the kernel. */
  readonly unloadedModules: readonly string[];
  /** State of the service as systemd names it (ActiveState), such as active, activating or inactive. */
  readonly serviceState: string;
  readonly isServiceEnabled: boolean;
  readonly installed: Installed | undefined;
}
