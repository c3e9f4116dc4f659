/** The types of SlurmFile. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const slurmFileTypes: DescribedTypes = {
  SlurmFile: {
    '': 'SlurmFile is a piece of a file that a SlurmJob has fetched. The client of the job creates it.',
    ...headFields('SlurmFile'),
    'spec!:SlurmFileSpec': 'A piece of a file. Immutable.',
  },
  SlurmFileSpec: {
    'job!:string': 'Name of the SlurmJob.',
    'jobUID!:string': 'Uid of the SlurmJob.',
    'kind!:string': 'Kind of the file: Output, Error, Build (the log of the build) or Result.',
    'path!:string':
      'Path below the work folder; stdout, stderr or build.log; stdout-3 for task 3 of an array.',
    'offset!:int64': 'Offset of the piece in the file, in bytes.',
    'length!:int64': 'Length of the piece in bytes.',
    'data!:string': 'The bytes in base64, at most 512 KiB.',
  },
};
