
// The index of this workgroup in the whole load, which may take several dispatches; `start` workgroups run before
// this dispatch.
fn workgroup_of(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return parameters.start + group.x + group.y * groups.x;
}
