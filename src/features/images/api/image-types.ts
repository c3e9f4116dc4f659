/** The types of Image. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const imageTypes: DescribedTypes = {
  Image: {
    '': 'Image is a container image that the cluster holds: nodes get it from the masters and from one another.',
    ...headFields('Image'),
    'spec!:ImageSpec': 'The name of the image, and its content.',
    'status:ImageStatus': 'What is held, written by the cluster.',
  },
  ImageSpec: {
    'image!:string':
      'The name of the image with its tag, in full, such as docker.io/library/busybox:1. It has this ' +
      'meaning in every namespace.',
    'config!:ImageBlob': 'The configuration of the image. Its digest is the identity of the image.',
    'layers!:[]ImageBlob': 'The layers of the image as uncompressed archives, the lowest one first.',
    'allNodes:bool': 'Whether all nodes get the image at once, instead of each node for its first pod.',
  },
  ImageBlob: {
    'digest!:string': 'Digest of the content, such as sha256:… with 64 hexadecimal digits.',
    'size!:int64': 'Size of the content in bytes.',
  },
  ImageStatus: {
    'content:ImageContent':
      'The content that pods get. Differs from the spec while another content is being uploaded.',
    'architecture:string': 'The processor architecture of the programs in the image.',
    'uploadingTo:string': 'Name of the master to which the content of the spec is being uploaded.',
    'masters:{}string': 'Masters that keep the content, with the digest of what they keep.',
    'nodes:{}string': 'Nodes whose engine has the image, with the digest of what it has.',
  },
  ImageContent: {
    'config!:ImageBlob': 'The configuration of the image.',
    'layers!:[]ImageBlob': 'The layers of the image, the lowest one first.',
  },
};
