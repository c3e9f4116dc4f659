/** Validation of every kind of source that a volume can have. */
import { persistentVolumeResource } from '../../../../src/api/core/v1/volume/persistent-volume.ts';
import { testCreate } from '../../../fixtures/kinds.ts';

const disk = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'disk' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
};
const source = (fields: object) => ({ spec: { hostPath: null, ...fields } });

testCreate(persistentVolumeResource, disk, [
  [
    'GCE',
    source({ gcePersistentDisk: { partition: 256 } }),
    'spec.persistentDisk.pdName: Required value',
    'spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
  ],
  ['GCE, whole', source({ gcePersistentDisk: { pdName: 'a', partition: 255 } })],
  [
    'AWS',
    source({ awsElasticBlockStore: { volumeID: '', partition: -1 } }),
    'spec.awsElasticBlockStore.volumeID: Required value',
    'spec.awsElasticBlockStore.partition: Invalid value: -1: must be between 1 and 255, inclusive',
  ],
  [
    'Gluster',
    source({ glusterfs: {} }),
    'spec.glusterfs.endpoints: Required value',
    'spec.glusterfs.path: Required value',
  ],
  [
    'Gluster with an invalid namespace',
    source({ glusterfs: { endpoints: 'a', path: 'b', endpointsNamespace: 'A' } }),
    'spec.glusterfs.endpointsNamespace: Invalid value: "A": a lowercase RFC 1123 label holds a-z, 0-9 and \'-\', its ',
  ],
  [
    'Gluster without a namespace',
    source({ glusterfs: { endpoints: 'a', path: 'b', endpointsNamespace: '' } }),
    'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must be a valid name',
  ],
  ['Gluster, whole', source({ glusterfs: { endpoints: 'a', path: 'b' } })],
  [
    'Flocker',
    source({ flocker: {} }),
    'spec.flocker: Required value: one of datasetName and datasetUUID is required',
  ],
  [
    'Flocker, twice',
    source({ flocker: { datasetName: 'a/b', datasetUUID: 'c' } }),
    'spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
    'spec.flocker.datasetName: Invalid value: "a/b": must not contain \'/\'',
  ],
  [
    'NFS',
    source({ nfs: {} }),
    'spec.nfs.server: Required value',
    'spec.nfs.path: Required value',
    'spec.nfs.path: Invalid value: "": must be an absolute path',
  ],
  [
    'NFS with a relative path',
    source({ nfs: { server: 'a', path: 'b' } }),
    'spec.nfs.path: Invalid value: "b": must be an absolute path',
  ],
  ['NFS, whole', source({ nfs: { server: 'a', path: '/b' } })],
  ['RBD', source({ rbd: {} }), 'spec.rbd.image: Required value', 'spec.rbd.monitors: Required value'],
  [
    'Quobyte',
    source({ quobyte: {} }),
    'spec.quobyte.volume: Required value',
    'spec.quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas',
  ],
  [
    'Quobyte without ports',
    source({ quobyte: { registry: 'a:1,b', volume: 'v' } }),
    'spec.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas',
  ],
  ['Quobyte, whole', source({ quobyte: { registry: 'a:1,[::1]:2', volume: 'v', tenant: 'x'.repeat(64) } })],
  [
    'Quobyte with a long tenant',
    source({ quobyte: { registry: 'a:1', volume: 'v', tenant: 'x'.repeat(65) } }),
    'spec.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters',
  ],
  ['CephFS', source({ cephfs: { monitors: [] } }), 'spec.cephfs.monitors: Required value'],
  [
    'iSCSI',
    source({ iscsi: {} }),
    'spec.iscsi.iqn: Required value',
    'spec.iscsi.targetPortal: Required value',
  ],
  [
    'iSCSI, all wrong',
    source({
      iscsi: { targetPortal: '1.2.3.4', iqn: 'x', lun: 256, chapAuthSession: true, initiatorName: 'y' },
    }),
    'spec.iscsi.iqn: Invalid value: "x": must be valid format',
    'spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
    'spec.iscsi.secretRef: Required value',
    'spec.iscsi.initiatorname: Invalid value: "y": must be valid format',
  ],
  [
    'iSCSI with an empty secret',
    source({
      iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2015-02.example.com:test', lun: 255, secretRef: {} },
    }),
    'spec.iscsi.secretRef.name: Required value',
  ],
  [
    'iSCSI with a portal above the maximum length',
    source({
      iscsi: {
        targetPortal: '111111111111111111111111111111111111111111111111111111111111',
        iqn: 'eui.0123456789abcdef',
        lun: 0,
        initiatorName: 'naa.0123456789abcdef0123456789abcdef',
      },
    }),
    'spec.iscsi.targetportal: Invalid value: "111111111111111111111111111111111111111111111111111111111111": Total ',
  ],
  [
    'iSCSI with a portal of the maximum length',
    source({
      iscsi: {
        targetPortal: '11111111111111111111111111111111111111111111111111111111111',
        iqn: 'eui.0123456789abcdef',
        lun: -1,
        initiatorName: 'naa.0123456789abcdef0123456789abcdef',
      },
    }),
    'spec.iscsi.lun: Invalid value: -1: must be between 0 and 255, inclusive',
  ],
  [
    'iSCSI with discovery authentication but without a secret',
    source({ iscsi: { targetPortal: '1.2.3.4', iqn: 'iqn.2015-02.example.com:a', chapAuthDiscovery: true } }),
    'spec.iscsi.secretRef: Required value',
  ],
  [
    'Cinder',
    source({ cinder: { secretRef: {} } }),
    'spec.cinder.volumeID: Required value',
    'spec.cinder.secretRef.name: Required value',
    'spec.cinder.secretRef.namespace: Required value',
  ],
  [
    'Fibre Channel',
    source({ fc: {} }),
    'spec.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both',
  ],
  [
    'Fibre Channel with targetWWNs and wwids',
    source({ fc: { targetWWNs: ['a'], wwids: ['b'] } }),
    'spec.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
    'spec.fc.lun: Required value: lun is required if targetWWNs is specified',
  ],
  [
    'Fibre Channel with a lun above the maximum',
    source({ fc: { targetWWNs: ['a'], lun: 256 } }),
    'spec.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive',
  ],
  [
    'Fibre Channel with a negative lun',
    source({ fc: { targetWWNs: ['a'], lun: -1 } }),
    'spec.fc.lun: Invalid value: -1: must be between 0 and 255, inclusive',
  ],
  ['Fibre Channel by identifier', source({ fc: { wwids: ['b'] } })],
  [
    'Flex',
    source({
      flexVolume: { options: { 'kubernetes.io/a': 'b', 'x.K8s.io/y': 'z', 'a.com/b': 'c', ak8s: 'd' } },
    }),
    'spec.flexVolume.driver: Required value',
    'spec.flexVolume.options[kubernetes.io/a]: Invalid value: "kubernetes.io/a": kubernetes.io and k8s.io namespace',
    'spec.flexVolume.options[x.K8s.io/y]: Invalid value: "x.K8s.io/y": kubernetes.io and k8s.io namespaces are reserved',
  ],
  [
    'Azure file',
    source({ azureFile: { secretNamespace: '' } }),
    'spec.azureFile.secretName: Required value',
    'spec.azureFile.shareName: Required value',
    'spec.azureFile.secretNamespace: Required value',
  ],
  ['vSphere', source({ vsphereVolume: {} }), 'spec.vsphereVolume.volumePath: Required value'],
  ['Photon', source({ photonPersistentDisk: {} }), 'spec.photonPersistentDisk.pdID: Required value'],
  ['Portworx', source({ portworxVolume: {} }), 'spec.portworxVolume.volumeID: Required value'],
  [
    'Azure disk',
    source({ azureDisk: {} }),
    'spec.azureDisk.diskName: Required value',
    'spec.azureDisk.diskURI: Required value',
    'spec.azureDisk.diskURI: Unsupported value: "": supported values: "https://{account-name}.blob.core.windows.net',
  ],
  [
    'a managed Azure disk with a wrong caching mode and URI',
    source({ azureDisk: { diskName: 'a', diskURI: 'https://b', kind: 'Managed', cachingMode: 'X' } }),
    'spec.azureDisk.cachingMode: Unsupported value: "X": supported values: "None", "ReadOnly", "ReadWrite"',
    'spec.azureDisk.diskURI: Unsupported value: "https://b": supported values: "/subscriptions/{sub-id}/resourcegro',
  ],
  ['an Azure disk with all required fields', source({ azureDisk: { diskName: 'a', diskURI: 'https://b' } })],
  [
    'ScaleIO',
    source({ scaleIO: {} }),
    'spec.scaleIO.gateway: Required value',
    'spec.scaleIO.system: Required value',
    'spec.scaleIO.volumeName: Required value',
  ],
  ['StorageOS', source({ storageos: {} }), 'spec.storageos.volumeName: Required value'],
  [
    'StorageOS with invalid names',
    source({ storageos: { volumeName: 'A', volumeNamespace: 'B', secretRef: {} } }),
    'spec.storageos.volumeName: Invalid value: "A": a lowercase RFC 1123 label holds a-z, 0-9 and \'-\', its first an',
    'spec.storageos.volumeNamespace: Invalid value: "B": a lowercase RFC 1123 label holds a-z, 0-9 and \'-\', its fir',
    'spec.storageos.secretRef.name: Required value',
    'spec.storageos.secretRef.namespace: Required value',
  ],
  [
    'CSI',
    source({ csi: {} }),
    'spec.csi.volumeHandle: Required value',
    'spec.csi.driver: Required value',
    'spec.csi.driver: Invalid value: "": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-',
  ],
  [
    'CSI, all wrong',
    source({
      csi: {
        driver: 'A_b',
        volumeHandle: '',
        nodePublishSecretRef: { name: 'A', namespace: 'B' },
        nodeExpandSecretRef: {},
        controllerPublishSecretRef: { name: 'a' },
        controllerExpandSecretRef: { namespace: 'b' },
      },
    }),
    'spec.csi.driver: Invalid value: "A_b": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of',
    'spec.csi.volumeHandle: Required value',
    'spec.csi.controllerPublishSecretRef.namespace: Required value',
    'spec.csi.controllerExpandSecretRef.name: Required value',
    'spec.csi.nodePublishSecretRef.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joine',
    'spec.csi.nodePublishSecretRef.namespace: Invalid value: "B": a lowercase RFC 1123 label holds a-z, 0-9 and \'-\'',
    'spec.csi.nodeExpandSecretRef.name: Required value',
    'spec.csi.nodeExpandSecretRef.namespace: Required value',
  ],
  [
    'CSI with a driver name above the maximum length',
    source({
      csi: { driver: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', volumeHandle: 'x' },
    }),
    'spec.csi.driver: Too long: may not be more than 63 bytes',
  ],
  ['CSI, whole', source({ csi: { driver: 'A.b', volumeHandle: 'x' } })],
]);
