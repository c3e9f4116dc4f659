/**
 * Field numbers of coordination, events, node, scheduling and storage,
 * as Kubernetes 1.32 publishes them in its generated.proto files.
 */
export const clusterMessages: Readonly<Record<string, string>> = {
  // coordination/v1
  V1Lease: '1:metadata 2:spec',
  V1LeaseSpec:
    '1:holderIdentity 2:leaseDurationSeconds 3:acquireTime 4:renewTime 5:leaseTransitions 6:strategy 7:preferredHolder',
  // events/v1
  EventsV1Event:
    '1:metadata 2:eventTime 3:series 4:reportingController? 5:reportingInstance? 6:action? 7:reason? 8:regarding 9:related 10:note? 11:type? 12:deprecatedSource 13:deprecatedFirstTimestamp 14:deprecatedLastTimestamp 15:deprecatedCount?',
  EventsV1EventSeries: '1:count 2:lastObservedTime',
  // node/v1
  V1Overhead: '1:podFixed',
  V1RuntimeClass: '1:metadata 2:handler 3:overhead 4:scheduling',
  V1Scheduling: '1:nodeSelector 2:tolerations',
  // scheduling/v1
  V1PriorityClass: '1:metadata 2:value 3:globalDefault? 4:description? 5:preemptionPolicy',
  // storage/v1
  StorageV1TokenRequest: '1:audience 2:expirationSeconds',
  V1CSIDriver: '1:metadata 2:spec',
  V1CSIDriverSpec:
    '1:attachRequired 2:podInfoOnMount 3:volumeLifecycleModes 4:storageCapacity 5:fsGroupPolicy 6:tokenRequests 7:requiresRepublish 8:seLinuxMount',
  V1CSINode: '1:metadata 2:spec',
  V1CSINodeDriver: '1:name 2:nodeID 3:topologyKeys 4:allocatable',
  V1CSINodeSpec: '1:drivers',
  V1CSIStorageCapacity: '1:metadata 2:nodeTopology 3:storageClassName 4:capacity 5:maximumVolumeSize',
  V1StorageClass:
    '1:metadata 2:provisioner 3:parameters 4:reclaimPolicy 5:mountOptions 6:allowVolumeExpansion 7:volumeBindingMode 8:allowedTopologies',
  V1VolumeAttachment: '1:metadata 2:spec 3:status',
  V1VolumeAttachmentSource: '1:persistentVolumeName 2:inlineVolumeSpec',
  V1VolumeAttachmentSpec: '1:attacher 2:source 3:nodeName',
  V1VolumeAttachmentStatus: '1:attached 2:attachmentMetadata 3:attachError 4:detachError',
  V1VolumeError: '1:time 2:message?',
  V1VolumeNodeResources: '1:count',
};
