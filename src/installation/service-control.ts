/** Commands to a service manager about the service of minik8s. */
import type { Exec } from '../os/exec.ts';
import type { ServiceState } from './plan/machine.ts';

export interface ServiceControl {
  /** Starts the Docker engine, now and at every boot. */
  startDocker(exec: Exec): Promise<void>;
  /** Reads the files of the services again. */
  reload(exec: Exec): Promise<void>;
  enable(exec: Exec): Promise<void>;
  isEnabled(exec: Exec): Promise<boolean>;
  /**
   * Resolves when the service is ready; rejects with its own error message if it does not start, or is not
   * ready in time. `timeoutMs` undefined: no time limit.
   */
  restart(exec: Exec, timeoutMs?: number): Promise<void>;
  /** Stops the service; new connections wait for its next start where the service manager allows it. */
  stopBeforeStart(exec: Exec): Promise<void>;
  /** Stops the service, which then no longer starts at a boot. */
  remove(exec: Exec): Promise<void>;
  /** Resolves to `inactive` for a service that does not exist. */
  state(exec: Exec): Promise<ServiceState>;
  /** Resolves to the status line that the service has sent: what is ready, or what a node waits for. */
  status(exec: Exec): Promise<string>;
  /** Resolves to the last error of a service that does not run, or does not get ready; undefined if none. */
  lastError(exec: Exec): Promise<string | undefined>;
  /** Resolves to the id of the process of the service; to undefined if there is none. */
  mainProcess(exec: Exec): Promise<number | undefined>;
}
