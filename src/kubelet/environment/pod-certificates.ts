/**
 * Certificates of the pods on this node (upstream: pkg/kubelet/podcertificate): each is requested with a key
 * that is only in memory and in the pod's volume, awaited, and renewed. Volumes request what they need; the
 * watch of the node's requests lasts as long as a pod here has such a volume.
 */
import PQueue from 'p-queue';
import { defaultLifetimeSeconds } from '../../api/certificates/v1/certificate-terms.ts';
import { podCertificateRequestResource as resource } from '../../api/certificates/v1/pod-certificate-request.ts';
import type { Node } from '../../api/core/v1/node/node.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { defaultAccount, serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { PodCertificateProjection } from '../../api/core/v1/types.gen.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Family } from '../../base/metrics/exposition.ts';
import { gauge } from '../../base/metrics/metric-family.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import { type NewKey, newKey } from './certificate-key.ts';
import { CertificateRequestWatch } from './certificate-request-watch.ts';
import {
  absence,
  advanced,
  type CertificateState,
  type HeldCertificate,
  lateWarnings,
  maxJitterMs,
  metricState,
  needsRequest,
} from './plan/pod-certificate.ts';

export interface PodCertificatesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly nodeName: string;
  /** This node's Node as it was last read; undefined before the first read. */
  readonly node: () => Node | undefined;
  /** Generates a key of the type; default: node:crypto in another thread. */
  readonly newKey?: (keyType: string) => Promise<NewKey>;
}

/** A source of a volume that needs a certificate. */
export interface CertificateSource {
  readonly volume: string;
  readonly index: number;
  readonly projection: PodCertificateProjection;
}

export interface GivenCertificate {
  /** PEM. */
  readonly key: string;
  readonly chain: string;
  /** Time at which the certificate must be asked for again, in milliseconds since the epoch. */
  readonly renewAt: number | undefined;
}

/** Delay between two attempts to request the renewal of a certificate. */
const retryMs = 60_000;

class Course {
  readonly source: CertificateSource;
  state: CertificateState = {};
  /** Number of changes that concern the files. */
  changes = 0;
  /** Warnings that were given about the certificate held. */
  readonly warned = new Set<string>();
  /** The request that is being created. */
  creation: Promise<void> | undefined;

  constructor(source: CertificateSource) {
    this.source = source;
  }
}

interface ServedPod {
  pod: Pod;
  readonly courses: Map<string, Course>;
}

export class PodCertificates {
  readonly #options: PodCertificatesOptions;
  readonly #pods = new Map<string, ServedPod>();
  /** RSA keys take seconds of a thread that the agent's file operations need, too. */
  readonly #keys = new PQueue({ concurrency: 1 });
  #watch: CertificateRequestWatch | undefined;
  #onChange: (uid: string) => void = () => {};

  constructor(options: PodCertificatesOptions) {
    this.#options = options;
  }

  /** Called for a pod when the files of one of its certificates must change, or when its request is lost. */
  set onChange(listener: (uid: string) => void) {
    this.#onChange = listener;
  }

  /** Follows the requests of the pod from now on if a volume of it needs a certificate. */
  observe(pod: Pod): void {
    const { uid } = pod.metadata;
    const sources = certificateSources(pod);
    if (sources.length === 0) {
      this.forget(uid);
      return;
    }
    const known = this.#pods.get(uid);
    if (known) known.pod = pod;
    else {
      const courses = sources.map((source) => [keyOf(source), new Course(source)] as const);
      this.#pods.set(uid, { pod, courses: new Map(courses) });
    }
    this.#watch ??= new CertificateRequestWatch(this.#options, () => this.#look());
  }

  /** Removes the keys of a pod, and ends the watch with the last pod. */
  forget(uid: string): void {
    this.#pods.delete(uid);
    if (this.#pods.size > 0) return;
    this.#watch?.stop();
    this.#watch = undefined;
  }

  /** Returns a text that changes when the files of the source must change. */
  version(pod: Pod, source: CertificateSource): string {
    return String(this.#pods.get(pod.metadata.uid)?.courses.get(keyOf(source))?.changes ?? 0);
  }

  /**
   * Returns the pod's certificate; requests the first or the next one when it is due. Rejects, with the
   * message for the pod's owner, while there is none.
   */
  async get(pod: Pod, source: CertificateSource): Promise<GivenCertificate> {
    const served = this.#pods.get(pod.metadata.uid);
    const course = served?.courses.get(keyOf(source));
    if (!served || !course) throw new Error('the pod is no longer followed');
    this.#advance(served, course);
    if (needsRequest(course.state, this.#options.clock.now())) await this.#request(served, course);
    this.#warn(served, course);
    const { held } = course.state;
    if (!held) throw new Error(absence(course.state));
    return { key: held.key, chain: held.chain, renewAt: this.#nextTime(course, held) };
  }

  families(): readonly Family[] {
    const now = this.#options.clock.now();
    const courses = [...this.#pods.values()].flatMap((served) => [...served.courses.values()]);
    const samples = Map.groupBy(courses, ({ source, state }) =>
      JSON.stringify([source.projection.signerName, metricState(state, now)]),
    );
    return [
      gauge(
        'kubelet_podcertificate_states',
        'Number of certificates in volumes of pods, by signer and state.',
        [...samples].map(([key, all]) => {
          const [signer, state] = JSON.parse(key) as [string, string];
          return { labels: { signer_name: signer, state }, value: all.length };
        }),
      ),
    ];
  }

  /** Ends the watch and removes all keys. */
  close(): void {
    for (const uid of [...this.#pods.keys()]) this.forget(uid);
  }

  #look(): void {
    for (const [uid, served] of this.#pods) {
      const changed = [...served.courses.values()].filter((course) => this.#advance(served, course));
      if (changed.length > 0) this.#onChange(uid);
    }
  }

  /** Applies what the watch shows; returns true if the files must change or a request is lost. */
  #advance({ pod }: ServedPod, course: Course): boolean {
    const { clock, random, events } = this.#options;
    const before = course.state;
    const { namespace = '' } = pod.metadata;
    const found = before.pending && this.#watch?.get(namespace, before.pending.name);
    const state = advanced(before, found, clock.now(), random.next() * maxJitterMs);
    course.state = state;
    if (state === before || state.pending) return false;
    course.changes++;
    if (state.held !== before.held) course.warned.clear();
    if (state.refusal) {
      const { type, request, reason, message } = state.refusal;
      const how = `reason=${JSON.stringify(reason)}, message=${JSON.stringify(message)}`;
      const what = type === 'Denied' ? 'was denied' : 'failed';
      events.event(pod, 'Warning', type, `PodCertificateRequest ${namespace}/${request} ${what}, ${how}`);
    }
    return true;
  }

  /** Creates a request; of two calls at the same time, the second awaits the first. */
  async #request(served: ServedPod, course: Course): Promise<void> {
    course.creation ??= this.#create(served, course).finally(() => {
      course.creation = undefined;
    });
    const isFirst = course.state.held === undefined;
    try {
      await course.creation;
    } catch (error) {
      const which = isFirst ? 'initial' : 'refresh';
      const why = `while creating ${which} PodCertificateRequest: ${errorMessage(error)}`;
      if (isFirst) throw new Error(why, { cause: error });
      const { name, namespace = '' } = served.pod.metadata;
      this.#options.log.warn(why, { pod: `${namespace}/${name}` });
    }
  }

  async #create(served: ServedPod, course: Course): Promise<void> {
    const { client, clock, nodeName, node } = this.#options;
    const { metadata, spec } = served.pod;
    const { namespace = '' } = metadata;
    const nodeUID = node()?.metadata.uid;
    if (nodeUID === undefined) throw new Error(`the Node ${nodeName} has not been read yet`);
    const account = spec.serviceAccountName ?? defaultAccount;
    const { uid: serviceAccountUID } = (await client.resource(serviceAccountResource).get(account, namespace))
      .metadata;
    const { keyType, signerName, userAnnotations } = course.source.projection;
    const { maxExpirationSeconds = defaultLifetimeSeconds } = course.source.projection;
    const make = this.#options.newKey ?? newKey;
    const { key, request } = await this.#keys.add(() => make(keyType));
    const created = await client.resource(resource).create({
      apiVersion: `${resource.group}/${resource.version}`,
      kind: resource.kind,
      metadata: {
        ...{ namespace, generateName: 'req-' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid }],
      },
      spec: {
        ...{ signerName, podName: metadata.name, podUID: metadata.uid, nodeName, nodeUID },
        ...{ serviceAccountName: account, serviceAccountUID, stubPKCS10Request: request },
        maxExpirationSeconds,
        ...(userAnnotations && { unverifiedUserAnnotations: userAnnotations }),
      },
    });
    const pending = { name: created.metadata.name, key, since: clock.now(), wasSeen: false };
    course.state = { ...course.state, pending };
    // The signer may have answered before the creation did.
    if (this.#advance(served, course)) this.#onChange(metadata.uid);
  }

  /** Warns once of each delay of a renewal. */
  #warn({ pod }: ServedPod, { state, warned }: Course): void {
    const { clock, events } = this.#options;
    for (const { at, reason, message } of state.held ? lateWarnings(state.held) : []) {
      if (clock.now() < at || warned.has(reason)) continue;
      warned.add(reason);
      events.event(pod, 'Warning', reason, message);
    }
  }

  /** Returns the time of the renewal, of its next attempt, or of the next warning. */
  #nextTime({ state, warned }: Course, held: HeldCertificate): number | undefined {
    const now = this.#options.clock.now();
    const warnings = lateWarnings(held).filter(({ reason }) => !warned.has(reason));
    const isDue = !state.pending && !state.refusal;
    const times = [
      ...warnings.map(({ at }) => at),
      ...(isDue ? [Math.max(held.refreshAt, now + (now < held.refreshAt ? 0 : retryMs))] : []),
    ];
    return times.length > 0 ? Math.min(...times) : undefined;
  }
}

const keyOf = ({ volume, index }: CertificateSource) => `${index} ${volume}`;

/** Returns the sources of the pod's volumes that need a certificate. */
export const certificateSources = ({ spec }: Pod): readonly CertificateSource[] =>
  (spec.volumes ?? []).flatMap(({ name: volume, projected }) =>
    (projected?.sources ?? []).flatMap(({ podCertificate: projection }, index) =>
      projection ? [{ volume, index, projection }] : [],
    ),
  );
