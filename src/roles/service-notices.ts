/** The service manager that started this process, such as systemd; the roles send their notices to it. */
import { systemClock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { systemExec } from '../os/exec.ts';
import { openServiceManager, type ServiceManager } from '../os/service-manager.ts';

/** Must be called once per process, before the first child process is started. */
export const serviceManagerOf = (log: Logger, signal: AbortSignal): ServiceManager =>
  openServiceManager({
    environment: process.env,
    exec: systemExec,
    clock: systemClock,
    onError: (error) => log.warn('the service manager could not be notified', { error: errorMessage(error) }),
    signal,
  });
