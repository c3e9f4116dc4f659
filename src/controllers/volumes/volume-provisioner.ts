/**
 * Creates volumes for claims of this server's own provisioners, as external provisioners do upstream, and
 * deletes them. The folder of a local volume is created and removed by the kubelet of its node, which watches
 * the volume and reports in its status that the folder is gone. Keys: `NAMESPACE/NAME` of a claim,
 * `NAME` of a volume.
 */

import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1/types.gen.ts';
import {
  isFullyBound,
  rankVolumes,
  selectedNode,
  withoutFinalizer,
} from '../../api/core/v1/volume/binding.ts';
import { folderFinalizer } from '../../api/core/v1/volume/chores.ts';
import { className } from '../../api/core/v1/volume/columns.ts';
import { folderOfShare } from '../../api/core/v1/volume/local-volumes.ts';
import { persistentVolumeResource } from '../../api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../api/core/v1/volume/persistent-volume-claim.ts';
import { nodeOf } from '../../api/core/v1/volume/recycling.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { storageClassResource } from '../../api/storage/v1/storage-class.ts';
import type { StorageClass } from '../../api/storage/v1/types.gen.ts';
import { objectKey, splitKey } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isConflict } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { indexVolumes, type VolumeIndex } from '../../controller-runtime/volume-index.ts';
import { assigned, withoutOutcome } from './chore-state.ts';
import { planProvision, planRemoval, type RemovalStep } from './provision-plan.ts';

export const volumeProvisionerRights: AccountRights = {
  // The provisioner creates the volumes of this server's own classes, like an external program for upstream.
  own: [
    ['get list watch create update delete', 'core', 'persistentvolumes'],
    ['update', 'core', 'persistentvolumes/status'],
    ['get list watch update', 'core', 'persistentvolumeclaims'],
    [read, 'core', 'nodes'],
    [read, 'storage.k8s.io', 'storageclasses'],
    writeEvents,
  ],
};

const byNode = 'unbound claims by chosen node';
const byClass = 'unbound claims by class';
const volumesByNode = 'volumes by node';
const foldersToRemove = 'folders of shares to be removed';

export const volumeProvisioner = (context: ControllerContext): ControllerDefinition =>
  new VolumeProvisioner(context).definition();

class VolumeProvisioner {
  readonly #context: ControllerContext;
  readonly #claims: Lister<PersistentVolumeClaim>;
  readonly #volumes: Lister<PersistentVolume>;
  readonly #classes: Lister<StorageClass>;
  readonly #nodes: Lister<Node>;
  readonly #index: VolumeIndex;

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    const claimInformer = informers.informerFor(persistentVolumeClaimResource);
    const volumeInformer = informers.informerFor(persistentVolumeResource);
    this.#claims = claimInformer.lister;
    this.#volumes = volumeInformer.lister;
    this.#classes = informers.informerFor(storageClassResource).lister;
    this.#nodes = informers.informerFor(nodeResource).lister;
    this.#index = indexVolumes(volumeInformer);
    claimInformer.addIndex(byNode, (claim) =>
      this.#ifUnbound(claim, claim.metadata.annotations?.[selectedNode]),
    );
    claimInformer.addIndex(byClass, (claim) => this.#ifUnbound(claim, className(claim)));
    volumeInformer.addIndex(volumesByNode, (volume) => [nodeOf(volume) ?? []].flat());
    volumeInformer.addIndex(foldersToRemove, (volume) =>
      volume.metadata.deletionTimestamp !== undefined && folderOfShare(volume) ? [''] : [],
    );
  }

  definition(): ControllerDefinition {
    return {
      name: 'volume-provisioner',
      watches: [
        watched(persistentVolumeClaimResource, (claim) => [objectKey(claim)]),
        watched(persistentVolumeResource, (volume) => [objectKey(volume)]),
        watched(storageClassResource, ({ metadata }) =>
          this.#claims.byIndex(byClass, metadata.name).map(objectKey),
        ),
        watched(nodeResource, ({ metadata }) => [
          ...this.#claims.byIndex(byNode, metadata.name).map(objectKey),
          // Nodes matter only when they are deleted; a heartbeat does not affect the node's volumes.
          ...(this.#nodes.get(metadata.name)
            ? []
            : this.#volumes.byIndex(volumesByNode, metadata.name).map(objectKey)),
          ...this.#volumes.byIndex(foldersToRemove, '').map(objectKey),
        ]),
      ],
      reconcile: async (key) => {
        await (splitKey(key).namespace === '' ? this.#remove(key) : this.#provision(key));
        return undefined;
      },
    };
  }

  #ifUnbound(claim: PersistentVolumeClaim, value: string | undefined) {
    return value === undefined || isFullyBound(claim) ? [] : [value];
  }

  async #provision(key: string): Promise<void> {
    const { events, client, log } = this.#context;
    const claim = this.#claims.get(key);
    if (!claim) return;
    const chosen = claim.metadata.annotations?.[selectedNode];
    const storageClass = this.#classes.get(className(claim));
    const node = chosen === undefined ? undefined : this.#nodes.get(chosen);
    const hasOther = rankVolumes(claim, this.#index.candidates(claim)).length > 0;
    const step = planProvision(claim, { storageClass, hasOther, node });
    const failed = (why: string) => {
      const message = `failed to provision volume with StorageClass ${JSON.stringify(className(claim))}: ${why}`;
      events.event(claim, 'Warning', 'ProvisioningFailed', message);
    };
    switch (step.kind) {
      case 'none':
        return;
      case 'fail':
        return failed(step.why);
      case 'chooseAgain': {
        failed(step.why);
        const { [selectedNode]: _, ...annotations } = claim.metadata.annotations ?? {};
        const next = { ...claim, metadata: { ...claim.metadata, annotations } };
        await tolerate(client.resource(persistentVolumeClaimResource).update(next), isConflict);
        return;
      }
      case 'create': {
        const { name } = step.volume.metadata as { name: string };
        if (this.#volumes.get(name)) return;
        const creation = client.resource(persistentVolumeResource).create(step.volume);
        const made = await tolerate(creation, isAlreadyExists).catch((error: unknown) => {
          failed(errorMessage(error));
          throw error;
        });
        if (!made) return;
        log.info('made a volume', { claim: key, volume: name });
        events.event(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
      }
    }
  }

  async #remove(name: string): Promise<void> {
    const volume = this.#volumes.get(name);
    if (!volume) return;
    const step = planRemoval(volume, { hasNode: await this.#hasNode(volume), nodes: this.#nodes.list() });
    await ifPresent(tolerate(this.#carryOut(volume, step), isConflict));
  }

  async #carryOut(volume: PersistentVolume, step: RemovalStep): Promise<void> {
    const { client, events } = this.#context;
    const resource = client.resource(persistentVolumeResource);
    switch (step.kind) {
      case 'none':
        return;
      case 'lift':
        await resource.update(withoutFinalizer(volume, folderFinalizer));
        return;
      case 'assign': {
        // The outcome of another node is removed first: if the process ends here, that node is assigned
        // again.
        const next = withoutOutcome(volume);
        await resource.update(assigned(next ? await resource.updateStatus(next) : volume, step.node));
        return;
      }
      case 'stuck': {
        const { reason: _, ...status } = { ...volume.status, phase: 'Failed', message: step.why };
        await resource.updateStatus({ ...volume, status });
        events.event(volume, 'Warning', 'VolumeFailedDelete', step.why);
        return;
      }
      case 'delete': {
        const { uid, resourceVersion, name } = volume.metadata;
        // The volume may have been changed in the meantime.
        const preconditions = { uid, resourceVersion };
        await resource.delete(name, undefined, { preconditions });
      }
    }
  }

  /** Returns true if the volume's node exists. A node that the cache does not show may be new. */
  async #hasNode(volume: PersistentVolume): Promise<boolean> {
    const { client } = this.#context;
    const name = nodeOf(volume);
    if (name === undefined) return false;
    if (this.#nodes.get(name)) return true;
    return volume.metadata.deletionTimestamp !== undefined
      ? (await ifPresent(client.resource(nodeResource).get(name))) !== undefined
      : true;
  }
}
