/** Everything that is known of a machine, and the checks of each subject. Pure. */
import { type AddressFacts, addressChecks } from './checks/addresses.ts';
import { type CertificatesFacts, certificateChecks } from './checks/certificates.ts';
import { type CgroupFacts, cgroupChecks } from './checks/cgroup.ts';
import { type ClockFacts, clockChecks } from './checks/clock.ts';
import { type DiskFacts, diskChecks } from './checks/disk.ts';
import { type DnsFacts, dnsChecks } from './checks/dns.ts';
import { type DockerFacts, dockerChecks } from './checks/docker.ts';
import { type EtcdFacts, etcdChecks } from './checks/etcd.ts';
import { fileChecks, type OwnFile } from './checks/files.ts';
import { type FirewallFacts, firewallChecks } from './checks/firewall.ts';
import { type KernelFacts, kernelChecks } from './checks/kernel.ts';
import { type ParameterFacts, parameterChecks } from './checks/kernel-parameters.ts';
import { type LinkFacts, linkChecks } from './checks/links.ts';
import { type PortFacts, portChecks } from './checks/ports.ts';
import { type ServedFacts, servedChecks } from './checks/served.ts';
import { type Check, type Fact, type Finding, findingsOf } from './finding.ts';
import type { Situation } from './situation.ts';

/** Facts by subject; a subject that the machine does not have is absent. */
export interface MachineFacts {
  readonly kernel: KernelFacts;
  readonly cgroup: CgroupFacts;
  readonly parameters: ParameterFacts;
  readonly docker: DockerFacts;
  readonly firewall: FirewallFacts;
  readonly ports: PortFacts;
  readonly served: ServedFacts;
  readonly links: LinkFacts;
  readonly addresses: AddressFacts;
  readonly dns: DnsFacts;
  readonly clock: ClockFacts;
  readonly disk: DiskFacts;
  readonly etcd: EtcdFacts;
  readonly certificates: CertificatesFacts;
  readonly files: readonly OwnFile[];
}

/** The checks of each subject, in the order of the report. */
const subjects: { readonly [K in keyof MachineFacts]: readonly Check<MachineFacts[K], Situation>[] } = {
  kernel: kernelChecks,
  cgroup: cgroupChecks,
  parameters: parameterChecks,
  docker: dockerChecks,
  firewall: firewallChecks,
  ports: portChecks,
  served: servedChecks,
  links: linkChecks,
  addresses: addressChecks,
  dns: dnsChecks,
  clock: clockChecks,
  disk: diskChecks,
  etcd: etcdChecks,
  certificates: certificateChecks,
  files: fileChecks,
};

/** Names of the checks whose facts only the agent of a node has. */
export const agentChecks: ReadonlySet<string> = new Set(servedChecks.map(({ name }) => name));

/** Facts of a machine, some of which could not be read. */
export type KnownFacts = { readonly [K in keyof MachineFacts]?: Fact<MachineFacts[K]> };

/** Returns the findings of one machine, subject by subject. */
export const machineFindings = (facts: KnownFacts, situation: Situation): readonly Finding[] =>
  (Object.keys(subjects) as (keyof MachineFacts)[]).flatMap((subject) => {
    const fact = facts[subject];
    return fact === undefined ? [] : ofSubject(subject, fact, situation);
  });

const ofSubject = <K extends keyof MachineFacts>(
  subject: K,
  fact: NonNullable<KnownFacts[K]>,
  situation: Situation,
): readonly Finding[] => findingsOf(subject, subjects[subject], fact as Fact<MachineFacts[K]>, situation);
