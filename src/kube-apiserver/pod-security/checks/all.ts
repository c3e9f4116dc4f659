/** All checks (Kubernetes' Pod Security Standards, as of 1.37). */
import type { PolicyCheck } from '../check.ts';
import { allowPrivilegeEscalation } from './allow-privilege-escalation.ts';
import { appArmorProfile } from './app-armor.ts';
import { capabilitiesBaseline, capabilitiesRestricted } from './capabilities.ts';
import { hostNamespaces } from './host-namespaces.ts';
import { hostPorts } from './host-ports.ts';
import { hostProbesAndHostLifecycle } from './host-probes.ts';
import { privileged } from './privileged.ts';
import { procMountBaseline, procMountRestricted } from './proc-mount.ts';
import { runAsNonRoot } from './run-as-non-root.ts';
import { runAsUser } from './run-as-user.ts';
import { seLinuxOptions } from './se-linux.ts';
import { seccompBaseline, seccompRestricted } from './seccomp.ts';
import { sysctls } from './sysctls.ts';
import { hostPathVolumes, restrictedVolumes } from './volumes.ts';
import { windowsHostProcess } from './windows-host-process.ts';

export const allChecks: readonly PolicyCheck[] = [
  allowPrivilegeEscalation,
  appArmorProfile,
  capabilitiesBaseline,
  capabilitiesRestricted,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbesAndHostLifecycle,
  privileged,
  procMountBaseline,
  procMountRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seLinuxOptions,
  seccompBaseline,
  seccompRestricted,
  sysctls,
  windowsHostProcess,
];
