/**
 * Field numbers of apps, batch, autoscaling and policy,
 * as Kubernetes 1.32 publishes them in its generated.proto files.
 */
export const workloadMessages: Readonly<Record<string, string>> = {
  // apps/v1
  V1ControllerRevision: '1:metadata 2:data 3:revision',
  V1DaemonSet: '1:metadata 2:spec 3:status',
  V1DaemonSetCondition: '1:type 2:status 3:lastTransitionTime 4:reason? 5:message?',
  V1DaemonSetSpec: '1:selector 2:template 3:updateStrategy 4:minReadySeconds? 6:revisionHistoryLimit',
  V1DaemonSetStatus:
    '1:currentNumberScheduled 2:numberMisscheduled 3:desiredNumberScheduled 4:numberReady 5:observedGeneration? 6:updatedNumberScheduled? 7:numberAvailable? 8:numberUnavailable? 9:collisionCount 10:conditions',
  V1DaemonSetUpdateStrategy: '1:type? 2:rollingUpdate',
  V1Deployment: '1:metadata 2:spec 3:status',
  V1DeploymentCondition: '1:type 2:status 4:reason? 5:message? 6:lastUpdateTime 7:lastTransitionTime',
  V1DeploymentSpec:
    '1:replicas 2:selector 3:template 4:strategy 5:minReadySeconds? 6:revisionHistoryLimit 7:paused? 9:progressDeadlineSeconds',
  V1DeploymentStatus:
    '1:observedGeneration? 2:replicas? 3:updatedReplicas? 4:availableReplicas? 5:unavailableReplicas? 6:conditions 7:readyReplicas? 8:collisionCount',
  V1DeploymentStrategy: '1:type? 2:rollingUpdate',
  V1ReplicaSet: '1:metadata 2:spec 3:status',
  V1ReplicaSetCondition: '1:type 2:status 3:lastTransitionTime 4:reason? 5:message?',
  V1ReplicaSetSpec: '1:replicas 2:selector 3:template 4:minReadySeconds?',
  V1ReplicaSetStatus:
    '1:replicas 2:fullyLabeledReplicas? 3:observedGeneration? 4:readyReplicas? 5:availableReplicas? 6:conditions',
  V1RollingUpdateDaemonSet: '1:maxUnavailable 2:maxSurge',
  V1RollingUpdateDeployment: '1:maxUnavailable 2:maxSurge',
  V1RollingUpdateStatefulSetStrategy: '1:partition 2:maxUnavailable',
  V1StatefulSet: '1:metadata 2:spec 3:status',
  V1StatefulSetCondition: '1:type 2:status 3:lastTransitionTime 4:reason? 5:message?',
  V1StatefulSetOrdinals: '1:start',
  V1StatefulSetPersistentVolumeClaimRetentionPolicy: '1:whenDeleted? 2:whenScaled?',
  V1StatefulSetSpec:
    '1:replicas 2:selector 3:template 4:volumeClaimTemplates 5:serviceName 6:podManagementPolicy? 7:updateStrategy 8:revisionHistoryLimit 9:minReadySeconds? 10:persistentVolumeClaimRetentionPolicy 11:ordinals',
  V1StatefulSetStatus:
    '1:observedGeneration? 2:replicas 3:readyReplicas? 4:currentReplicas? 5:updatedReplicas? 6:currentRevision? 7:updateRevision? 9:collisionCount 10:conditions 11:availableReplicas',
  V1StatefulSetUpdateStrategy: '1:type? 2:rollingUpdate',
  // batch/v1
  V1CronJob: '1:metadata 2:spec 3:status',
  V1CronJobSpec:
    '1:schedule 2:startingDeadlineSeconds 3:concurrencyPolicy? 4:suspend 5:jobTemplate 6:successfulJobsHistoryLimit 7:failedJobsHistoryLimit 8:timeZone',
  V1CronJobStatus: '1:active 4:lastScheduleTime 5:lastSuccessfulTime',
  V1Job: '1:metadata 2:spec 3:status',
  V1JobCondition: '1:type 2:status 3:lastProbeTime 4:lastTransitionTime 5:reason? 6:message?',
  V1JobSpec:
    '1:parallelism 2:completions 3:activeDeadlineSeconds 4:selector 5:manualSelector 6:template 7:backoffLimit 8:ttlSecondsAfterFinished 9:completionMode 10:suspend 11:podFailurePolicy 12:backoffLimitPerIndex 13:maxFailedIndexes 14:podReplacementPolicy 15:managedBy 16:successPolicy',
  V1JobStatus:
    '1:conditions 2:startTime 3:completionTime 4:active? 5:succeeded? 6:failed? 7:completedIndexes? 8:uncountedTerminatedPods 9:ready 10:failedIndexes 11:terminating',
  V1JobTemplateSpec: '1:metadata 2:spec',
  V1PodFailurePolicy: '1:rules',
  V1PodFailurePolicyOnExitCodesRequirement: '1:containerName 2:operator 3:values',
  V1PodFailurePolicyOnPodConditionsPattern: '1:type 2:status',
  V1PodFailurePolicyRule: '1:action 2:onExitCodes 3:onPodConditions',
  V1SuccessPolicy: '1:rules',
  V1SuccessPolicyRule: '1:succeededIndexes 2:succeededCount',
  V1UncountedTerminatedPods: '1:succeeded 2:failed',
  // autoscaling/v1
  V1CrossVersionObjectReference: '1:kind 2:name 3:apiVersion?',
  V1HorizontalPodAutoscaler: '1:metadata 2:spec 3:status',
  V1HorizontalPodAutoscalerSpec:
    '1:scaleTargetRef 2:minReplicas 3:maxReplicas 4:targetCPUUtilizationPercentage',
  V1HorizontalPodAutoscalerStatus:
    '1:observedGeneration 2:lastScaleTime 3:currentReplicas 4:desiredReplicas 5:currentCPUUtilizationPercentage',
  V1Scale: '1:metadata 2:spec 3:status',
  V1ScaleSpec: '1:replicas?',
  V1ScaleStatus: '1:replicas 2:selector?',
  // autoscaling/v2
  V2ContainerResourceMetricSource: '1:name 2:target 3:container',
  V2ContainerResourceMetricStatus: '1:name 2:current 3:container',
  V2CrossVersionObjectReference: '1:kind 2:name 3:apiVersion?',
  V2ExternalMetricSource: '1:metric 2:target',
  V2ExternalMetricStatus: '1:metric 2:current',
  V2HPAScalingPolicy: '1:type 2:value 3:periodSeconds',
  V2HPAScalingRules: '1:selectPolicy 2:policies 3:stabilizationWindowSeconds',
  V2HorizontalPodAutoscaler: '1:metadata 2:spec 3:status',
  V2HorizontalPodAutoscalerBehavior: '1:scaleUp 2:scaleDown',
  V2HorizontalPodAutoscalerCondition: '1:type 2:status 3:lastTransitionTime 4:reason? 5:message?',
  V2HorizontalPodAutoscalerSpec: '1:scaleTargetRef 2:minReplicas 3:maxReplicas 4:metrics 5:behavior',
  V2HorizontalPodAutoscalerStatus:
    '1:observedGeneration 2:lastScaleTime 3:currentReplicas? 4:desiredReplicas 5:currentMetrics 6:conditions',
  V2MetricIdentifier: '1:name 2:selector',
  V2MetricSpec: '1:type 2:object 3:pods 4:resource 5:external 7:containerResource',
  V2MetricStatus: '1:type 2:object 3:pods 4:resource 5:external 7:containerResource',
  V2MetricTarget: '1:type 2:value 3:averageValue 4:averageUtilization',
  V2MetricValueStatus: '1:value 2:averageValue 3:averageUtilization',
  V2ObjectMetricSource: '1:describedObject 2:target 3:metric',
  V2ObjectMetricStatus: '1:metric 2:current 3:describedObject',
  V2PodsMetricSource: '1:metric 2:target',
  V2PodsMetricStatus: '1:metric 2:current',
  V2ResourceMetricSource: '1:name 2:target',
  V2ResourceMetricStatus: '1:name 2:current',
  // policy/v1
  V1Eviction: '1:metadata 2:deleteOptions',
  V1PodDisruptionBudget: '1:metadata 2:spec 3:status',
  V1PodDisruptionBudgetSpec: '1:minAvailable 2:selector 3:maxUnavailable 4:unhealthyPodEvictionPolicy',
  V1PodDisruptionBudgetStatus:
    '1:observedGeneration? 2:disruptedPods 3:disruptionsAllowed 4:currentHealthy 5:desiredHealthy 6:expectedPods 7:conditions',
};
