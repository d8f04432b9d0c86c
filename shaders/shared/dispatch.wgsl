
// Which workgroup this is of all that a verb needs: work may come in several dispatches, and `start` workgroups ran
// before this one.
fn workgroup_of(group: vec3<u32>, groups: vec3<u32>) -> u32 {
  return parameters.start + group.x + group.y * groups.x;
}
