# tensor_file.py -- safetensors files as arrays, for the twin and what runs it.
import json
import struct

import numpy as np


def read_safetensors(path):
    """Returns {name: float32 array}; tensors of any other type are refused."""
    with open(path, 'rb') as file:
        header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        data = file.read()
    header.pop('__metadata__', None)
    tensors = {}
    for name, entry in header.items():
        if entry['dtype'] != 'F32':
            raise ValueError(f'{path}: {name} is {entry["dtype"]}, not F32')
        begin, end = entry['data_offsets']
        tensors[name] = np.frombuffer(data[begin:end], '<f4').reshape(entry['shape'])
    return tensors


def write_safetensors(path, tensors):
    """Writes {name: array or tensor} as float32, in the order given."""
    header, parts, offset = {}, [], 0
    for name, value in tensors.items():
        # Not ascontiguousarray: that would turn a scalar into shape [1].
        array = np.asarray(value, dtype='<f4', order='C')
        header[name] = {'dtype': 'F32', 'shape': list(array.shape),
                        'data_offsets': [offset, offset + array.nbytes]}
        parts.append(array.tobytes())
        offset += array.nbytes
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + b''.join(parts))
