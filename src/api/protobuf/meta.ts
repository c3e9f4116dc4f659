/** Field numbers of the meta types, as Kubernetes 1.32 publishes them in its generated.proto files. */
export const metaMessages: Readonly<Record<string, string>> = {
  V1Condition: '1:type 2:status 3:observedGeneration? 4:lastTransitionTime 5:reason 6:message',
  V1DeleteOptions:
    '1:gracePeriodSeconds 2:preconditions 3:orphanDependents 4:propagationPolicy 5:dryRun 6:ignoreStoreReadErrorWithClusterBreakingPotential',
  V1FieldSelectorRequirement: '1:key 2:operator 3:values',
  V1LabelSelector: '1:matchLabels 2:matchExpressions',
  V1LabelSelectorRequirement: '1:key 2:operator 3:values',
  V1ListMeta: '1:selfLink? 2:resourceVersion? 3:continue? 4:remainingItemCount',
  V1ManagedFieldsEntry:
    '1:manager? 2:operation? 3:apiVersion? 4:time 6:fieldsType? 7:fieldsV1 8:subresource?',
  V1ObjectMeta:
    '1:name? 2:generateName? 3:namespace? 4:selfLink? 5:uid? 6:resourceVersion? 7:generation? 8:creationTimestamp 9:deletionTimestamp 10:deletionGracePeriodSeconds 11:labels 12:annotations 13:ownerReferences 14:finalizers 17:managedFields',
  V1OwnerReference: '1:kind 3:name 4:uid 5:apiVersion 6:controller 7:blockOwnerDeletion',
  V1Preconditions: '1:uid 2:resourceVersion',
  V1Status: '1:metadata 2:status? 3:message? 4:reason? 5:details 6:code?',
  V1StatusCause: '1:reason? 2:message? 3:field?',
  V1StatusDetails: '1:name? 2:group? 3:kind? 4:causes 5:retryAfterSeconds? 6:uid?',
};
