/** What an installation finds on the machine. */
import type { Installed } from './installed.ts';
import type { NodeProgram, PackageManager } from './packages.ts';

/** What exists at a path. The text of a file that is not one of minik8s' small ones is not read. */
export type Found =
  | { readonly kind: 'file'; readonly text: string | undefined; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'other' };

export interface Machine {
  readonly hasSystemd: boolean;
  readonly packageManager: PackageManager | undefined;
  readonly lackingPrograms: readonly NodeProgram[];
  /** Whether a Docker engine answers, is only installed, or is missing. */
  readonly docker: 'answers' | 'installed' | 'missing';
  /** Entries of the file system by path; a path that does not exist is missing. */
  readonly found: ReadonlyMap<string, Found>;
  /** Digest of the installed executable; undefined if there is none. */
  readonly executableDigest: string | undefined;
  readonly sysctls: ReadonlyMap<string, string>;
  /** Kernel modules of a node that are neither loaded nor part of the kernel. */
  readonly unloadedModules: readonly string[];
  readonly isServiceActive: boolean;
  readonly isServiceEnabled: boolean;
  readonly installed: Installed | undefined;
}
