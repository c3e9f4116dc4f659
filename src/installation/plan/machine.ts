/** Facts about the machine, on which the plan of an installation is based. */
import type { Installed } from './installed.ts';
import type { NodeProgram, PackageManager } from './packages.ts';
import type { ServiceManager } from './service-manager.ts';

/**
 * An entry of the file system. The text of a file above 256 KiB is not read. A directory with nothing but the
 * drafts of killed writers is empty.
 */
export type Found =
  | { readonly kind: 'file'; readonly text: string | undefined; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'empty-directory' }
  | { readonly kind: 'other' };

/** State of the service, as systemd names it. */
export type ServiceState = 'active' | 'activating' | 'deactivating' | 'reloading' | 'inactive' | 'failed';

export interface Machine {
  /** Service manager that runs this machine; undefined if it is another one. */
  readonly serviceManager: ServiceManager | undefined;
  readonly packageManager: PackageManager | undefined;
  readonly lackingPrograms: readonly NodeProgram[];
  /** State of the Docker engine: it answers, is installed and does not answer, or is missing. */
  readonly docker: 'answers' | 'installed' | 'missing';
  /** Entries of the file system by path; a path that does not exist is missing. */
  readonly found: ReadonlyMap<string, Found>;
  /** Directories of system files that do not exist. */
  readonly missingDirectories: readonly string[];
  /** Digest of the installed executable; undefined if there is none. */
  readonly executableDigest: string | undefined;
  readonly sysctls: ReadonlyMap<string, string>;
  /** Kernel modules of a node that are neither loaded nor part of the kernel. */
  readonly unloadedModules: readonly string[];
  readonly serviceState: ServiceState;
  readonly isServiceEnabled: boolean;
  readonly installed: Installed | undefined;
}
