/* Compiles SPIR-V compute shaders with a real driver's compiler, without a card, and prints what the driver says of the code:
 * registers, spills, occupancy, instructions, estimated cycles. `gpu-static` beside this file runs it.
 *   cc -O1 radv-statistics.c -o radv-statistics -lvulkan
 *   RADV_FORCE_FAMILY=GFX1100 VK_DRIVER_FILES=/usr/share/vulkan/icd.d/radeon_icd.x86_64.json ./radv-statistics *.spv
 */
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

#define CHECK(call) do { VkResult result_ = (call); if (result_) { fprintf(stderr, "%s: %d\n", #call, result_); exit(2); } } while (0)
enum { BINDINGS = 9, STATISTICS = 64, EXECUTABLES = 4 };

static uint32_t *read_words(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) { perror(path); exit(2); }
    fseek(file, 0, SEEK_END); *bytes = (size_t)ftell(file); rewind(file);
    uint32_t *words = malloc(*bytes);
    if (fread(words, 1, *bytes, file) != *bytes) { perror(path); exit(2); }
    fclose(file);
    return words;
}

int main(int count, char **paths) {
    VkApplicationInfo application = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2 };
    VkInstanceCreateInfo instance_info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application };
    VkInstance instance; CHECK(vkCreateInstance(&instance_info, 0, &instance));
    uint32_t found = 1; VkPhysicalDevice physical;
    VkResult listed = vkEnumeratePhysicalDevices(instance, &found, &physical);
    if ((listed && listed != VK_INCOMPLETE) || !found) { fprintf(stderr, "no device\n"); return 1; }
    VkPhysicalDeviceProperties properties; vkGetPhysicalDeviceProperties(physical, &properties);
    VkPhysicalDeviceFeatures features; vkGetPhysicalDeviceFeatures(physical, &features);
    printf("# %s, f64 %s, largest binding %u, workgroup memory %u\n", properties.deviceName, features.shaderFloat64 ? "yes" : "no",
           properties.limits.maxStorageBufferRange, properties.limits.maxComputeSharedMemorySize);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority };
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, .pipelineExecutableInfo = VK_TRUE };
    VkPhysicalDeviceFeatures2 wanted = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &executable };
    wanted.features.shaderFloat64 = features.shaderFloat64; wanted.features.shaderInt64 = features.shaderInt64;
    const char *extension = "VK_KHR_pipeline_executable_properties";
    VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &wanted, .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue, .enabledExtensionCount = 1, .ppEnabledExtensionNames = &extension };
    VkDevice device; CHECK(vkCreateDevice(physical, &device_info, 0, &device));
    PFN_vkGetPipelineExecutableStatisticsKHR statistics_of = (void *)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
    PFN_vkGetPipelineExecutablePropertiesKHR properties_of = (void *)vkGetDeviceProcAddr(device, "vkGetPipelineExecutablePropertiesKHR");
    /* Binding 0 uniform, the others storage: the project's convention. */
    VkDescriptorSetLayoutBinding bindings[BINDINGS] = { 0 };
    for (uint32_t i = 0; i < BINDINGS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){ .binding = i, .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            .descriptorType = i ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER };
    VkDescriptorSetLayoutCreateInfo set_info = { .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = BINDINGS, .pBindings = bindings };
    VkDescriptorSetLayout set; CHECK(vkCreateDescriptorSetLayout(device, &set_info, 0, &set));
    VkPipelineLayoutCreateInfo layout_info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set };
    VkPipelineLayout layout; CHECK(vkCreatePipelineLayout(device, &layout_info, 0, &layout));
    for (int i = 1; i < count; i++) {
        size_t bytes; uint32_t *words = read_words(paths[i], &bytes);
        VkShaderModuleCreateInfo module_info = { .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words };
        VkShaderModule module; CHECK(vkCreateShaderModule(device, &module_info, 0, &module));
        VkComputePipelineCreateInfo pipeline_info = { .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, .layout = layout,
            .stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = "main" } };
        VkPipeline pipeline; VkResult made = vkCreateComputePipelines(device, 0, 1, &pipeline_info, 0, &pipeline);
        printf("== %s%s\n", paths[i], made ? ": refused by the compiler" : "");
        if (made) continue;
        VkPipelineInfoKHR info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline };
        VkPipelineExecutablePropertiesKHR parts[EXECUTABLES]; uint32_t part_count = EXECUTABLES;
        for (int e = 0; e < EXECUTABLES; e++) parts[e] = (VkPipelineExecutablePropertiesKHR){ .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR };
        properties_of(device, &info, &part_count, parts);
        for (uint32_t e = 0; e < part_count; e++) {
            VkPipelineExecutableInfoKHR which = { .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline, .executableIndex = e };
            VkPipelineExecutableStatisticKHR values[STATISTICS]; uint32_t value_count = STATISTICS;
            for (int v = 0; v < STATISTICS; v++) values[v] = (VkPipelineExecutableStatisticKHR){ .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR };
            statistics_of(device, &which, &value_count, values);
            printf("  %-28s %u\n", "Subgroup size", parts[e].subgroupSize);
            for (uint32_t v = 0; v < value_count; v++) printf("  %-28s %llu\n", values[v].name, (unsigned long long)values[v].value.u64);
        }
        vkDestroyPipeline(device, pipeline, 0); vkDestroyShaderModule(device, module, 0); free(words);
    }
}
